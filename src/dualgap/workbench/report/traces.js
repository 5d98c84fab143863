/* Traces: the curves of a heat as plotly takes them, with their bands and the lines to compare them with. */
const SYMBOLS_PER_LINE = 9;

/* Plotly reads a few HTML tags in texts; a name is never meant as one. */
function inert(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/* The points a logarithmic axis can show. */
function visible(curve, logY) {
  const places = [...curve.x.keys()];
  return places.filter((i) => (!state.logX || curve.x[i] > 0) && (!logY || (curve.low || curve.median)[i] > 0));
}

function bandTrace(curve, places, color) {
  const back = [...places].reverse();
  return {
    type: "scatter",
    mode: "lines",
    x: [...places, ...back].map((i) => curve.x[i]),
    y: [...places.map((i) => curve.high[i]), ...back.map((i) => curve.low[i])],
    fill: "toself",
    fillcolor: faint(color, theme() === "dark" ? 0.2 : 0.14),
    line: { width: 0 },
    hoverinfo: "skip",
    showlegend: false,
  };
}

function lineTrace(curve, places, y, width) {
  const { color, dash, symbol } = styleOf(curve.solver);
  const band = curve.low ? "<br>5–95 %: %{customdata[0]:.4~g} to %{customdata[1]:.4~g}" : "";
  const separate = RIVALS.has(curve.solver);
  return {
    type: "scatter",
    mode: "lines+markers",
    name: inert(curve.solver),
    x: places.map((i) => curve.x[i]),
    y: places.map((i) => curve.median[i]),
    customdata: curve.low ? places.map((i) => [curve.low[i], curve.high[i]]) : undefined,
    line: { color, dash: separate ? "dot" : dash, width: separate ? 1 : width },
    marker: { color, symbol, size: separate ? 9 : 7, maxdisplayed: separate ? 0 : SYMBOLS_PER_LINE },
    hovertemplate: `<b>${inert(curve.solver)}</b><br>%{x:.6~g} ${X_NAMES[state.x]}<br>${yName(y)} %{y:.6~g}${band}<br>${curve.runs} run${curve.runs > 1 ? "s" : ""}<extra></extra>`,
    showlegend: false,
  };
}

function curveTraces(y) {
  const shown = curves(y).filter((curve) => isShown(curve.solver));
  const bands = [];
  const lines = [];
  for (const curve of shown) {
    const places = visible(curve, state.log[y]);
    if (!places.length) continue;
    const winner = curve.solver === state.heat.winner;
    if (curve.low) bands.push(bandTrace(curve, places, styleOf(curve.solver).color));
    lines.push(lineTrace(curve, places, y, winner ? 3 : 1.75));
  }
  return [...bands, ...lines];
}

/* Heights to compare with: the zero vector, and between which values the optimum is proven to lie. */
function references(y) {
  const found = [];
  const zeros = state.heat.zeros[y];
  if (isNumber(zeros)) found.push({ height: zeros, label: "zeros", color: cssColor("--soft"), side: "bottom" });
  if (y === "primal" && state.heat.bounds) {
    const [dual, primal] = state.heat.bounds;
    const good = cssColor("--good");
    const apart = primal - dual > 0.1 * Math.abs((zeros || primal) - dual);
    found.push({ height: primal, label: apart ? "best certified primal" : "", color: good, side: "bottom" });
    found.push({ height: dual, label: apart ? "best certified dual" : "best certified dual and primal", color: good, side: "top" });
  }
  if (y === "relative_gap") found.push({ height: state.heat.tol, label: `asked for ${state.heat.tol.toExponential()}`, color: cssColor("--good"), side: "bottom" });
  return state.log[y] ? found.filter((line) => line.height > 0) : found;
}
