// Draws every panel from the JSON above; a panel's element is chart-ID-NUMBER.
(function () {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const config = JSON.parse(document.getElementById("config").textContent);
  const plots = figures.map(function (figure) {
    const element = document.getElementById(figure.id);
    Plotly.newPlot(element, figure.data, figure.layout, config);
    return element;
  });
  // Paper is narrower than a window: plots are drawn anew at the width that printing gives them.
  const fit = function () { plots.forEach(function (element) { Plotly.Plots.resize(element); }); };
  window.addEventListener("beforeprint", fit);
  window.addEventListener("afterprint", fit);
  document.querySelectorAll("details").forEach(function (element) {
    window.addEventListener("beforeprint", function () { element.open = true; });
  });
})();
