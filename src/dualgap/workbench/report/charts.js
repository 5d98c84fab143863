/* The charts of the curves: one plotly figure per quantity, all against the same x. */
// Plotly's own buttons are in the tab order and yet unseen until a mouse comes; drag and double click do their work.
const PLOTLY = { displayModeBar: false, responsive: true };
const narrow = window.matchMedia("(max-width: 900px), (pointer: coarse)");

function axis(extra) {
  return {
    gridcolor: cssColor("--grid"),
    linecolor: cssColor("--line"),
    zeroline: false,
    automargin: true,
    exponentformat: "power",
    title: { standoff: 8 },
    ...extra,
  };
}

function baseLayout(xaxis, yaxis) {
  return {
    font: { family: cssColor("--sans"), size: 12.5, color: cssColor("--soft") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 52, r: 14, t: 10, b: 40 },
    hovermode: "closest",
    hoverlabel: { bgcolor: cssColor("--card"), bordercolor: cssColor("--line"), font: { color: cssColor("--ink") }, align: "left" },
    // On a screen that is touched, a finger on a chart scrolls the page.
    dragmode: narrow.matches ? false : "zoom",
    xaxis: axis(xaxis),
    yaxis: axis(yaxis),
  };
}

function addReferences(layout, y, range) {
  const log = state.log[y];
  const lines = references(y).map((line) => {
    if (!range || log || line.height >= range[0]) return line;
    return { ...line, below: true, label: `${line.label} ${plainText(line.height, 3)} ↓` };
  });
  layout.shapes = lines.map((line) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, y0: line.height, y1: line.height, layer: "below",
    line: { color: line.color, width: 1.25, dash: line.label === "zeros" ? "dot" : "dash" },
  }));
  layout.annotations = lines.map((line) => ({
    xref: "paper", x: 1, xanchor: "right", yanchor: line.side,
    y: line.below ? range[0] : log ? Math.log10(line.height) : line.height,
    text: line.label, showarrow: false, font: { size: 11.5, color: line.color },
  }));
}

/* The heights worth seeing at first; a double click on the chart shows all. */
function yRange(y, heights) {
  const zeros = state.heat.zeros[y];
  const all = heights.flat();
  if (!isNumber(zeros) || !all.length) return undefined;
  if (y === "primal" && state.heat.bounds && state.heat.bounds[0] < zeros) {
    // Early steps overshoot by far, so the zero vector's height is the scale; below the best dual is room for its name.
    const scale = state.log[y] ? (height) => Math.log10(Math.max(height, zeros * 1e-9)) : (height) => height;
    const [low, high] = [scale(state.heat.bounds[0]), scale(zeros)];
    return [low - 0.15 * (high - low), high + 0.12 * (high - low)];
  }
  if (y === "test_score" && !state.log[y]) {
    // What a solver scores before it has begun is the line of zeros, and would flatten all that follows.
    const later = heights.flatMap((line) => line.slice(Math.min(3, line.length - 1)));
    const [low, high] = [later.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
    const margin = 0.08 * (high - low) || 0.02;
    return [low - margin, high + margin];
  }
  return undefined;
}

/* One tick per decade where there are several; plotly's own choice otherwise. */
function wholeDecades(heights) {
  const all = heights.flat();
  if (!all.length) return undefined;
  const decades = Math.log10(all.reduce((a, b) => Math.max(a, b)) / all.reduce((a, b) => Math.min(a, b)));
  return decades > 1.5 ? Math.ceil(decades / 8) : undefined;
}

function draw(element, traces, layout, emptyWords) {
  if (traces.length) {
    element.classList.remove("empty");
    if (!element.querySelector(".plot-container")) element.replaceChildren();
    Plotly.react(element, traces, layout, PLOTLY);
  } else {
    Plotly.purge(element);
    element.classList.add("empty");
    element.replaceChildren(emptyWords);
  }
}

function drawCurve(figure) {
  const y = figure.dataset.y;
  const traces = curveTraces(y);
  const heights = traces.filter((trace) => trace.name).map((trace) => trace.y);
  const range = yRange(y, heights);
  const layout = baseLayout(
    { title: { text: X_NAMES[state.x], standoff: 8 }, type: state.logX ? "log" : "linear", rangemode: "tozero" },
    { type: state.log[y] ? "log" : "linear", range, dtick: state.log[y] ? wholeDecades(heights) : undefined },
  );
  if (figure.classList.contains("tall")) layout.font.size = 13;
  addReferences(layout, y, range);
  const empty = drawnSolvers().some(isShown) ? "No run recorded this." : "Every solver is hidden.";
  draw(figure.querySelector(".plot"), traces, layout, empty);
  const name = figure.querySelector("[data-test-name]");
  if (name) name.textContent = testName(state.heat).replace(/^t/, "T");
}

function drawCurves() {
  document.querySelectorAll(".chart[data-y]").forEach(drawCurve);
}

function startCharts() {
  const grid = document.querySelector(".charts");
  grid.classList.toggle("few", grid.querySelectorAll(".chart:not(.tall)").length < 3);
  byId("x-axis").value = state.x;
  byId("x-axis").addEventListener("change", (event) => {
    state.x = event.target.value;
    drawCurves();
  });
  const press = (button, pressed) => button.setAttribute("aria-pressed", String(pressed));
  press(byId("log-x"), state.logX);
  byId("log-x").addEventListener("click", (event) => {
    state.logX = !state.logX;
    press(event.currentTarget, state.logX);
    drawCurves();
  });
  for (const button of document.querySelectorAll("[data-log]")) {
    button.addEventListener("click", () => {
      const y = button.dataset.log;
      state.log[y] = !state.log[y];
      press(button, state.log[y]);
      drawCurves();
    });
  }
}
