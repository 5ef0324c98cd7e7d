// Draws every panel from the JSON above it; a figure's id is that of its element.
(function () {
  const parsed = function (id) { return JSON.parse(document.getElementById(id).textContent); };
  const config = parsed("config");
  parsed("figures").forEach(function (figure) {
    Plotly.newPlot(figure.id, figure.data, figure.layout, config);
  });
  // On paper nothing can be opened with a click.
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (element) { element.open = true; });
  });
})();
