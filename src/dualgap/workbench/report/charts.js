/* The charts of the curves: one chart per quantity, all against the same x. */
const narrow = window.matchMedia("(max-width: 900px), (pointer: coarse)");
// Where the longest curve divided by the shortest is at least this, a linear axis squeezes the shortest into a corner.
const SQUEEZED = 20;

function baseLayout(xaxis, yaxis) {
  return { xaxis: { title: { text: "" }, ...xaxis }, yaxis };
}

function isLogX() {
  if (state.logX !== null) return state.logX;
  const ends = curves("relative_gap").map((curve) => curve.x[curve.x.length - 1]).filter((end) => end > 0);
  return ends.length > 1 && Math.max(...ends) > SQUEEZED * Math.min(...ends);
}

function addReferences(layout, y, range) {
  const log = state.log[y];
  const lines = references(y).map((line) => {
    if (!range || log || line.height >= range[0]) return line;
    return { ...line, label: `${line.label} ${plainText(line.height, 3)} ↓`, height: range[0] };
  });
  layout.shapes = lines.map(({ height, color, label }) => ({ y0: height, y1: height, color, dash: label.startsWith("zeros") ? "dot" : "dash" }));
  layout.shapes.unshift(...strips(y));
  layout.annotations = lines.map(({ height, label, color, below }) => ({ y: height, words: label, color, below }));
}

/* The heights worth seeing at first; a double click on the chart shows all. */
function yRange(y, heights) {
  const zeros = state.heat.zeros[y];
  const all = heights.flatMap((line) => [...line]);
  if (!isNumber(zeros) || !all.length) return undefined;
  if (y === "primal" && state.heat.bounds && state.heat.bounds[0] < zeros) {
    // Early steps overshoot by far, so the zero vector's height is the scale; below the best dual is room for its name.
    const scale = state.log[y] ? (height) => Math.log10(Math.max(height, zeros * 1e-9)) : (height) => height;
    const [low, high] = [scale(state.heat.bounds[0]), scale(zeros)];
    return [low - 0.15 * (high - low), high + 0.12 * (high - low)];
  }
  if (y === "test_score" && !state.log[y]) {
    // What a solver scores before it has begun is the line of zeros, and would flatten all that follows.
    const later = heights.flatMap((line) => [...line].slice(Math.min(3, line.length - 1)));
    const [low, high] = [later.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
    const margin = 0.08 * (high - low) || 0.02;
    return [low - margin, high + margin];
  }
  return undefined;
}

function draw(element, traces, layout, emptyWords) {
  element.classList.toggle("empty", !traces.length);
  if (traces.length) {
    drawChart(element, traces, layout);
  } else {
    clearChart(element);
    element.replaceChildren(emptyWords);
  }
}

function drawCurve(figure) {
  const y = figure.dataset.y;
  const traces = curveTraces(y);
  const heights = traces.filter((trace) => trace.name).map((trace) => trace.y);
  const range = yRange(y, heights);
  const layout = baseLayout(
    { title: { text: X_NAMES[state.x] }, type: isLogX() ? "log" : "linear", rangemode: "tozero" },
    { type: state.log[y] ? "log" : "linear", range },
  );
  addReferences(layout, y, range);
  const empty = drawnSolvers().some(isShown) ? "No run recorded this." : "Every solver is hidden.";
  draw(figure.querySelector(".plot"), traces, layout, empty);
  const name = figure.querySelector("[data-test-name]");
  if (name) name.textContent = testName(state.heat).replace(/^t/, "T");
}

function drawCurves() {
  press(byId("log-x"), isLogX());
  document.querySelectorAll(".chart[data-y]").forEach(drawCurve);
  keepState();
}

function press(button, pressed) {
  button.setAttribute("aria-pressed", String(pressed));
}

function startCharts() {
  byId("x-axis").value = state.x;
  byId("x-axis").addEventListener("change", (event) => {
    state.x = event.target.value;
    drawCurves();
  });
  byId("log-x").addEventListener("click", () => {
    state.logX = !isLogX();
    drawCurves();
  });
  for (const button of document.querySelectorAll("[data-log]")) {
    const y = button.dataset.log;
    press(button, state.log[y]);
    button.addEventListener("click", () => {
      state.log[y] = !state.log[y];
      press(button, state.log[y]);
      drawCurves();
    });
  }
}
