/* The panels of the figures: medians with bands, drawn one after the other. */
function panelTraces(panel) {
  const bands = [];
  const lines = [];
  for (const [name, marked, ...places] of panel.lines) {
    const [x, y, low, high] = places.map(numbers);
    const kept = [...x.keys()].filter((i) => (!panel.log[0] || x[i] > 0) && (!panel.log[1] || (low || y)[i] > 0));
    if (!kept.length) continue;
    const { color, dash, symbol } = styleOf(name);
    if (low) bands.push(bandTrace({ x, low, high }, kept, color));
    lines.push({
      name,
      x: kept.map((i) => x[i]),
      y: kept.map((i) => y[i]),
      line: { color, dash, width: 1.75 },
      marker: { color, symbol, size: 7, maxdisplayed: marked ? 0 : SYMBOLS_PER_LINE },
      words: (k) => [`${exact(x[kept[k]], 4)} ${panel.x}`, `${panel.y} ${exact(y[kept[k]], 4)}`],
    });
  }
  return [...bands, ...lines];
}

/* Where a curve overshoots, the axis ends a little above P(0), and levels are always shown; a double click shows all. */
function heightRange(panel, traces) {
  const levels = panel.levels.map(([, level]) => level);
  if (panel.top === null && !levels.length) return undefined;
  const heights = traces.filter((trace) => trace.name || panel.top === null).flatMap((trace) => [...trace.y]);
  const lowest = Math.min(...heights, ...levels);
  const highest = panel.top === null ? Math.max(...heights, ...levels) : Math.min(Math.max(...heights), panel.top);
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
    { title: { text: panel.x }, type: panel.log[0] ? "log" : "linear" },
    { title: { text: panel.y }, type: panel.log[1] ? "log" : "linear", range },
  );
  layout.showlegend = panel.lines.length > 1;
  layout.shapes = panel.levels.map(([, level]) => ({
    y0: level, y1: level, color: cssColor("--good"), dash: "dash",
  }));
  const heights = traces.filter((trace) => trace.name).flatMap((trace) => [...trace.y]);
  // The words stand on the side of a level where fewer points of curves are: P ends on P* from above, D from below.
  layout.annotations = panel.levels.map(([words, level]) => ({
    y: level, words, color: cssColor("--good"), below: 2 * heights.filter((height) => height > level).length > heights.length,
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

startTheme(() => panelElements().forEach(drawPanel));
drawInTurn(panelElements());
