/* The panels of the figures: medians with bands, drawn by plotly one after the other. */
function panelTraces(panel) {
  const bands = [];
  const lines = [];
  for (const [name, marked, ...places] of panel.lines) {
    const [x, y, low, high] = places.map(numbers);
    const kept = [...x.keys()].filter((i) => (!panel.log[0] || x[i] > 0) && (!panel.log[1] || (low || y)[i] > 0));
    if (!kept.length) continue;
    const { color, dash, symbol } = styleOf(name);
    if (low) bands.push({ ...bandTrace({ x, low, high }, kept, color), legendgroup: name });
    lines.push({
      type: "scatter",
      mode: "lines+markers",
      name: inert(name),
      legendgroup: name,
      x: kept.map((i) => x[i]),
      y: kept.map((i) => y[i]),
      line: { color, dash, width: 1.75 },
      marker: { color, symbol, size: 7, maxdisplayed: marked ? 0 : SYMBOLS_PER_LINE },
      hovertemplate: `<b>${inert(name)}</b><br>%{x:.4~g} ${inert(panel.x)}<br>${inert(panel.y)} %{y:.4~g}<extra></extra>`,
    });
  }
  return [...bands, ...lines];
}

/* Where a curve overshoots, the axis ends a little above P(0); a double click shows all. */
function heightRange(panel, traces) {
  if (panel.top === null) return undefined;
  const heights = traces.filter((trace) => trace.name).flatMap((trace) => trace.y);
  const levels = panel.levels.map(([, level]) => level);
  const lowest = Math.min(...heights, ...levels);
  const highest = Math.min(Math.max(...heights), panel.top);
  if (!(highest > lowest)) return undefined;
  const scale = panel.log[1] ? Math.log10 : (height) => height;
  const [low, high] = [scale(lowest), scale(highest)];
  return [low - 0.08 * (high - low), high + 0.05 * (high - low)];
}

function drawPanel(element) {
  const panel = DATA.panels[Number(element.dataset.panel)];
  const traces = panelTraces(panel);
  const range = heightRange(panel, traces);
  const layout = baseLayout(
    { title: { text: inert(panel.x), standoff: 6 }, type: panel.log[0] ? "log" : "linear" },
    { title: { text: inert(panel.y), standoff: 6 }, type: panel.log[1] ? "log" : "linear", range },
  );
  layout.margin = { l: 56, r: 12, t: 8, b: 40 };
  layout.showlegend = panel.lines.length > 1;
  layout.legend = { orientation: "h", y: -0.22, yanchor: "top", font: { size: 11.5 } };
  layout.shapes = panel.levels.map(([, level]) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, y0: level, y1: level, layer: "below",
    line: { color: cssColor("--good"), width: 1.25, dash: "dash" },
  }));
  layout.annotations = panel.levels.map(([words, level]) => ({
    xref: "paper", x: 1, xanchor: "right", yanchor: "bottom", showarrow: false,
    y: panel.log[1] ? Math.log10(level) : level, text: inert(words), font: { size: 11.5, color: cssColor("--good") },
  }));
  draw(element, traces, layout, "No run recorded this.");
}

function panelElements() {
  return [...document.querySelectorAll("[data-panel]")];
}

/* Each panel in a turn of its own, so that the page answers in between. */
function drawInTurn([first, ...others]) {
  if (first) drawPanel(first);
  if (others.length) setTimeout(() => drawInTurn(others));
  else document.documentElement.dataset.drawn = "yes";
}

startTheme(() => typeof Plotly === "undefined" || panelElements().forEach(drawPanel));
document.addEventListener("DOMContentLoaded", () => drawInTurn(panelElements()));
