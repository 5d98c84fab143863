/* Traces: the curves of a heat as a chart takes them, with their bands and the lines to compare them with. */
const SYMBOLS_PER_LINE = 9;

/* The points a logarithmic axis can show. */
function visible(curve, logY) {
  const logX = isLogX();
  const places = [...curve.x.keys()];
  return places.filter((i) => (!logX || curve.x[i] > 0) && (!logY || (curve.low || curve.median)[i] > 0));
}

function bandTrace(curve, places, color) {
  const back = [...places].reverse();
  return {
    x: [...places, ...back].map((i) => curve.x[i]),
    y: [...places.map((i) => curve.high[i]), ...back.map((i) => curve.low[i])],
    fill: faint(color, theme() === "dark" ? 0.2 : 0.14),
    line: { color: "none", width: 0 },
  };
}

function exact(value, digits) {
  return String(Number(value.toPrecision(digits)));
}

function lineTrace(curve, places, y, width) {
  const { color, dash, symbol } = styleOf(curve.solver);
  const separate = RIVALS.has(curve.solver);
  return {
    name: curve.solver,
    x: places.map((i) => curve.x[i]),
    y: places.map((i) => curve.median[i]),
    // The fits of another package are runs of their own, in the order of their time: no line leads from one to the next.
    line: separate ? undefined : { color, dash, width },
    marker: { color, symbol, size: separate ? 10 : 8, maxdisplayed: separate ? 0 : SYMBOLS_PER_LINE },
    words: (k) => {
      const i = places[k];
      const band = curve.low ? [`5–95 %: ${exact(curve.low[i], 4)} to ${exact(curve.high[i], 4)}`] : [];
      const runs = `${curve.runs} run${curve.runs > 1 ? "s" : ""}`;
      return [`${exact(curve.x[i], 6)} ${X_NAMES[state.x]}`, `${yName(y)} ${exact(curve.median[i], 6)}`, ...band, runs];
    },
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
    if (curve.low && !RIVALS.has(curve.solver)) bands.push(bandTrace(curve, places, styleOf(curve.solver).color));
    lines.push(lineTrace(curve, places, y, winner ? 3 : 1.75));
  }
  return [...bands, ...lines];
}

/* Heights to compare with: the zero vector, and between which values the optimum is proven to lie. */
function references(y) {
  const found = [];
  const zeros = state.heat.zeros[y];
  const good = cssColor("--good");
  if (isNumber(zeros)) found.push({ height: zeros, label: "zeros", color: cssColor("--soft") });
  if (state.heat.bounds) {
    const [dual, primal] = state.heat.bounds;
    if (y === "primal") {
      const apart = primal - dual > 0.1 * Math.abs((zeros || primal) - dual);
      found.push({ height: primal, label: apart ? "best certified primal" : "", color: good });
      found.push({ height: dual, label: apart ? "best certified dual" : "best certified dual and primal", color: good, below: true });
    }
    if (y === "suboptimality" && primal > dual) {
      found.push({ height: primal - dual, label: "the optimum is known to this", color: good });
    }
  }
  if (y === "relative_gap") found.push({ height: state.heat.tol, label: `asked for ${state.heat.tol.toExponential()}`, color: good });
  return state.log[y] ? found.filter((line) => line.height > 0) : found;
}

/* The strip in which the optimum lies: between the best dual and the best primal, which are 0 and P − D* where heights are above the dual. */
const LOWEST = 1e-300; // below every axis

function strips(y) {
  if (!["primal", "suboptimality"].includes(y) || !state.heat.bounds) return [];
  const [dual, primal] = state.heat.bounds;
  const [low, high] = y === "primal" ? [dual, primal] : [0, primal - dual];
  if (y === "primal" && state.log[y] && low <= 0) return [];
  return high > low ? [{ y0: state.log[y] ? Math.max(low, LOWEST) : low, y1: high, fill: cssColor("--good-soft") }] : [];
}
