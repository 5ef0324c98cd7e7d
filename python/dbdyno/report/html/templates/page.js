// Draws every panel from the JSON above it; a figure's id is that of its element.
(function () {
  const parsed = function (id) { return JSON.parse(document.getElementById(id).textContent); };
  const config = parsed("config");
  parsed("figures").forEach(function (figure) {
    Plotly.newPlot(figure.id, figure.data, figure.layout, config);
  });
  document.querySelectorAll(".flame").forEach(function (flame) {
    const said = document.getElementById(flame.id + "-said");
    const frames = Array.from(flame.children);
    const places = frames.map(function (frame) { return [parseFloat(frame.style.left), parseFloat(frame.style.width)]; });
    const show = function (event) {
      if (event.target.dataset.said) said.textContent = event.target.dataset.said;
    };
    // Widens a frame to the whole width; the one that is widest already shows all again.
    const widen = function (event) {
      const chosen = frames.indexOf(event.target);
      if (chosen < 0) return;
      const left = places[chosen][0], width = places[chosen][1];
      frames.forEach(function (frame, place) {
        const from = (places[place][0] - left) / width * 100, wide = places[place][1] / width * 100;
        const begin = Math.max(from, 0), end = Math.min(from + wide, 100);
        frame.hidden = end - begin <= 0.0001;
        frame.style.left = begin + "%";
        frame.style.width = (end - begin) + "%";
      });
    };
    flame.addEventListener("pointerover", show);
    flame.addEventListener("click", show);
    flame.addEventListener("click", widen);
  });
  // On paper nothing can be opened with a click.
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (element) { element.open = true; });
  });
})();
