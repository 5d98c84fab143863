/* Axes: from values to places on a chart and back, and where their ticks are. */
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
// Pixels between two ticks, at least.
const TICK_ROOM = { x: 70, y: 36 };
// A logarithmic axis over fewer decades than this has ticks between the powers of ten.
const FEW_DECADES = 1.5;
// What stays free at each end of an axis that shows all of its values, as a part of their range.
const MARGIN = 0.04;

function power(exponent) {
  return `10${[...String(exponent)].map((digit) => SUPERSCRIPTS[digit]).join("")}`;
}

/* The range of an axis in its own units, which are powers of ten where it is logarithmic. */
function rangeOf(axis, values) {
  const known = values.map(axis.type === "log" ? Math.log10 : Number).filter(Number.isFinite);
  if (axis.rangemode === "tozero" && axis.type !== "log") known.push(0);
  if (!known.length) return [0, 1];
  const low = known.reduce((a, b) => Math.min(a, b));
  const high = known.reduce((a, b) => Math.max(a, b));
  const margin = MARGIN * (high - low) || Math.abs(MARGIN * high) || 0.5;
  return [low - margin, high + margin];
}

/* An axis between two pixels: `place` takes a value to a pixel, `unitAt` a pixel to the units of the range. */
function scaleOf(axis, [low, high], [first, last]) {
  const log = axis.type === "log";
  const placeOfUnit = (unit) => first + ((unit - low) / (high - low)) * (last - first);
  return {
    log,
    range: [low, high],
    pixels: Math.abs(last - first),
    placeOfUnit,
    place: (value) => placeOfUnit(log ? Math.log10(value) : value),
    unitAt: (pixel) => low + ((pixel - first) / (last - first)) * (high - low),
  };
}

/* 1, 2 or 5 times a power of ten, at least as large as asked for. */
function roundStep(least) {
  const scale = 10 ** Math.floor(Math.log10(least));
  return scale * [1, 2, 5, 10].find((factor) => factor * scale >= least * (1 - 1e-9));
}

/* Ticks as pairs of a unit of the axis and its words. */
function ticksOf(axis, scale, room) {
  const [low, high] = scale.range;
  const count = Math.max(2, Math.floor(scale.pixels / room));
  if (scale.log && high - low >= FEW_DECADES) {
    const step = Math.max(1, Math.ceil((high - low) / count));
    const found = [];
    for (let unit = Math.ceil(low / step) * step; unit <= high; unit += step) found.push([unit, power(unit)]);
    return found;
  }
  const [from, to] = scale.log ? [10 ** low, 10 ** high] : [low, high];
  const step = roundStep((to - from) / count);
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to * (1 + 1e-12); k += 1) {
    const value = k * step;
    if (scale.log && value <= 0) continue;
    found.push([scale.log ? Math.log10(value) : value, tickWords(axis, value, step)]);
  }
  return found;
}

function tickWords(axis, value, step) {
  if (axis.tickformat === ".0%") return `${Math.round(100 * value)}%`;
  if (value === 0) return "0";
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (digits > 5 || Math.abs(value) >= 1e7) {
    const exponent = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
    return `${Number((value / 10 ** exponent).toFixed(2))}·${power(exponent)}`;
  }
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
