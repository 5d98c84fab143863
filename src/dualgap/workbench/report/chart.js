/* A chart as SVG: bands, lines and symbols on two axes; a drag zooms, a double click goes back, the pointer shows exact values. */
const SVG = "http://www.w3.org/2000/svg";
// What each element shows, and the ranges zoomed to, which a drawing of other data or other axes forgets.
const SHOWN = new WeakMap();
const REACH = 40; // pixels from the pointer to the farthest point that it shows
const DRAG = 8; // pixels; a shorter drag is a click
const LETTER = 7; // pixels of a letter of a tick, to leave room for its axis

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function drawChart(element, traces, layout) {
  const kind = `${layout.xaxis.title.text} ${layout.xaxis.type} ${layout.yaxis.type}`;
  const before = SHOWN.get(element);
  const shown = { traces, layout, kind, zoom: before && before.kind === kind ? before.zoom : null };
  SHOWN.set(element, shown);
  element.layout = layout;
  if (!before) new ResizeObserver(() => SHOWN.has(element) && paint(element)).observe(element);
  paint(element);
}

function clearChart(element) {
  SHOWN.delete(element);
}

function paint(element) {
  const shown = SHOWN.get(element);
  const { traces, layout, zoom } = shown;
  const legend = layout.showlegend ? [legendRow(traces)] : [];
  element.replaceChildren(...legend);
  const [width, height] = [element.clientWidth, element.clientHeight - (legend.length ? legend[0].offsetHeight : 0)];
  if (!width || !height) return;
  const all = (name) => traces.flatMap((trace) => [...trace[name]]);
  const ranges = zoom || { x: layout.xaxis.range || rangeOf(layout.xaxis, all("x")), y: layout.yaxis.range || rangeOf(layout.yaxis, all("y")) };
  const bottom = height - (layout.xaxis.title.text ? 44 : 24);
  const yScale = scaleOf(layout.yaxis, ranges.y, [bottom, 8]);
  const yTicks = ticksOf(layout.yaxis, yScale, TICK_ROOM.y);
  const left = (layout.yaxis.title?.text ? 26 : 10) + LETTER * Math.max(2, ...yTicks.map(([, words]) => words.length));
  const xScale = scaleOf(layout.xaxis, ranges.x, [left, width - 12]);
  const area = { left, right: width - 12, top: 8, bottom };
  const clip = `clip-${[...document.querySelectorAll(".plot")].indexOf(element)}`;
  const box = { x: left, y: 8, width: area.right - left, height: bottom - 8 };
  const inside = svg("g", { "clip-path": `url(#${clip})` }, referenceLayer(layout, yScale, area), traceLayer(traces, xScale, yScale));
  const cover = svg("rect", { class: "nsewdrag", ...box });
  const picture = svg(
    "svg",
    { class: "main-svg plot-container", width, height },
    svg("clipPath", { id: clip }, svg("rect", box)),
    axisLayer(layout, ticksOf(layout.xaxis, xScale, TICK_ROOM.x), yTicks, xScale, yScale, area),
    inside,
    labelLayer(layout, yScale, area),
    cover,
    svg("g", { class: "hoverlayer" }),
  );
  element.prepend(picture);
  listen(element, picture, cover, xScale, yScale, area);
}

function axisLayer(layout, xTicks, yTicks, xScale, yScale, { left, right, top, bottom }) {
  const layer = svg("g", { class: "axes" });
  for (const [unit, words] of yTicks) {
    const y = yScale.placeOfUnit(unit);
    layer.append(svg("path", { class: "grid", d: `M${left} ${y}H${right}` }), svg("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, words));
  }
  for (const [unit, words] of xTicks) {
    const x = xScale.placeOfUnit(unit);
    layer.append(svg("path", { class: "grid", d: `M${x} ${top}V${bottom}` }), svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, words));
  }
  layer.append(svg("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }));
  layer.append(svg("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, layout.xaxis.title.text));
  if (layout.yaxis.title?.text) {
    layer.append(svg("text", { transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, layout.yaxis.title.text));
  }
  return layer;
}

/* Lines across the chart, and the strip between two of them. */
function referenceLayer(layout, yScale, { left, right }) {
  const layer = svg("g", { class: "shapelayer" });
  for (const { y0, y1, color, dash, fill } of layout.shapes || []) {
    const [one, other] = [yScale.place(y0), yScale.place(y1)];
    if (fill) layer.append(svg("rect", { x: left, width: right - left, y: Math.min(one, other), height: Math.abs(one - other), fill }));
    else layer.append(svg("path", { d: `M${left} ${one}H${right}`, stroke: color, "stroke-width": 1.25, "stroke-dasharray": DASHES[dash] }));
  }
  return layer;
}

function labelLayer(layout, yScale, { right, top, bottom }) {
  const layer = svg("g", { class: "infolayer" });
  for (const { y, words, color, below } of layout.annotations || []) {
    const place = yScale.place(y);
    if (!words || place < top - 1 || place > bottom + 1) continue;
    layer.append(svg("text", { class: "annotation-text", x: right - 2, y: place + (below ? 13 : -4), "text-anchor": "end", style: `fill: ${color}` }, words));
  }
  return layer;
}

function traceLayer(traces, xScale, yScale) {
  const layer = svg("g", { class: "scatterlayer" });
  for (const trace of traces) {
    const places = Array.from(trace.x, (x, i) => [xScale.place(x), yScale.place(trace.y[i])]);
    const group = svg("g", { class: "trace" });
    if (trace.line) group.append(svg("path", { class: "js-line", d: linePath(places, trace), fill: trace.fill || "none", stroke: trace.line.color, "stroke-width": trace.line.width, "stroke-dasharray": DASHES[trace.line.dash] }));
    if (trace.marker) group.append(pointLayer(places, trace.marker));
    layer.append(group);
  }
  return layer;
}

function linePath(places, trace) {
  const step = trace.line.shape === "hv";
  const path = places.map(([x, y], i) => (i === 0 ? `M${x.toFixed(1)},${y.toFixed(1)}` : step ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `L${x.toFixed(1)},${y.toFixed(1)}`));
  return path.join("") + (trace.fill && path.length ? "Z" : "");
}

/* At most `maxdisplayed` symbols, evenly spread over the points; all where that is 0. Shapes are drawn around (17, 7). */
function pointLayer(places, { color, symbol, size, maxdisplayed, opacity }) {
  const every = maxdisplayed ? Math.max(1, Math.ceil(places.length / maxdisplayed)) : 1;
  const layer = svg("g", { class: "points" });
  places.forEach(([x, y], i) => {
    if (i % every) return;
    layer.append(svg("path", { d: SHAPES[symbol], fill: color, opacity, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size / 8}) translate(-17 -7)` }));
  });
  return layer;
}

function legendRow(traces) {
  const names = [...new Set(traces.map((trace) => trace.name).filter(Boolean))];
  return make("div", { class: "chart-legend" }, ...names.map((name) => make("span", {}, swatch(name), name)));
}
