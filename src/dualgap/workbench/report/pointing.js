/* Pointing at a chart: exact values of the nearest point, a drag that zooms, a double click that goes back. */
function listen(element, picture, cover, xScale, yScale, area) {
  const shown = SHOWN.get(element);
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  let begun = null;
  cover.addEventListener("pointermove", (event) => {
    const here = at(event);
    if (begun) drawSelection(picture, begun, here, area);
    else showNearest(picture, shown.traces, xScale, yScale, here, area);
  });
  cover.addEventListener("pointerleave", () => begun || clearHover(picture));
  cover.addEventListener("pointerdown", (event) => {
    showNearest(picture, shown.traces, xScale, yScale, at(event), area);
    // On a screen that is touched, a finger on a chart scrolls the page.
    if (narrow.matches || event.button !== 0) return;
    begun = at(event);
    cover.setPointerCapture(event.pointerId);
  });
  cover.addEventListener("pointerup", (event) => {
    const [from, to] = [begun, at(event)];
    begun = null;
    clearHover(picture);
    if (!from || Math.abs(from[0] - to[0]) < DRAG) return;
    const sorted = (scale, one, other) => [scale.unitAt(one), scale.unitAt(other)].sort((a, b) => a - b);
    const y = Math.abs(from[1] - to[1]) < DRAG ? yScale.range : sorted(yScale, from[1], to[1]);
    shown.zoom = { x: sorted(xScale, from[0], to[0]), y };
    paint(element);
  });
  cover.addEventListener("dblclick", () => {
    const { traces, layout } = shown;
    const all = (name) => traces.flatMap((trace) => [...trace[name]]);
    // Back from a zoom; from a range that leaves some values out, on to all of them.
    const everything = { x: rangeOf(layout.xaxis, all("x")), y: rangeOf(layout.yaxis, all("y")) };
    shown.zoom = shown.zoom ? null : everything;
    paint(element);
  });
}

function clearHover(picture) {
  picture.querySelector(".hoverlayer").replaceChildren();
}

function drawSelection(picture, from, to, { left, right, top, bottom }) {
  const [x0, x1] = [from[0], Math.min(right, Math.max(left, to[0]))].sort((a, b) => a - b);
  const flat = Math.abs(from[1] - to[1]) < DRAG;
  const [y0, y1] = flat ? [top, bottom] : [from[1], Math.min(bottom, Math.max(top, to[1]))].sort((a, b) => a - b);
  const box = svg("rect", { class: "selection", x: x0, y: y0, width: x1 - x0, height: y1 - y0 });
  picture.querySelector(".hoverlayer").replaceChildren(box);
}

function showNearest(picture, traces, xScale, yScale, [x, y], area) {
  let nearest = { distance: REACH };
  for (const trace of traces) {
    if (!trace.words) continue;
    for (let i = 0; i < trace.x.length; i += 1) {
      const place = [xScale.place(trace.x[i]), yScale.place(trace.y[i])];
      if (place[0] < area.left - 1 || place[0] > area.right + 1) continue;
      const distance = Math.hypot(place[0] - x, place[1] - y);
      if (distance < nearest.distance) nearest = { distance, trace, i, place };
    }
  }
  clearHover(picture);
  if (nearest.trace) picture.querySelector(".hoverlayer").append(...hoverLabel(nearest, area));
}

function hoverLabel({ trace, i, place: [x, y] }, { left, right, top, bottom }) {
  const lines = [trace.name, ...trace.words(i)];
  const width = 18 + 6.6 * Math.max(...lines.map((line) => line.length));
  const height = 12 + 17 * lines.length;
  const at = [x + 14 + width > right ? Math.max(left, x - 14 - width) : x + 14, Math.min(bottom - height, Math.max(top, y - height / 2))];
  const text = svg("text", {}, ...lines.map((line, k) => svg("tspan", { x: at[0] + 9, y: at[1] + 20 + 17 * k, class: k ? undefined : "name" }, line)));
  const label = svg("g", { class: "hovertext" }, svg("rect", { x: at[0], y: at[1], width, height, rx: 6 }), text);
  return [svg("circle", { cx: x, cy: y, r: 6, class: "pointed", stroke: (trace.line || trace.marker).color }), label];
}
