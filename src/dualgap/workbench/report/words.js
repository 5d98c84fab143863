/* Numbers as a person reads them, and elements made without any HTML text. */
const NONE = "–";
const X_NAMES = { call_seconds: "seconds of the whole call", seconds: "seconds of updates", cpu_seconds: "CPU seconds of updates", epoch: "epochs", updates: "updates" };

function testName(heat) {
  return (heat.facts.task || "classification") === "classification" ? "test accuracy" : "test R²";
}

function yName(y) {
  return { suboptimality: "above the best dual by", relative_gap: "relative gap", primal: "primal", test_score: testName(state.heat), support: "support vectors" }[y];
}

function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

function gapText(value) {
  return isNumber(value) ? value.toExponential(1) : NONE;
}

function plainText(value, digits) {
  return isNumber(value) ? String(Number(value.toPrecision(digits))) : NONE;
}

function scoreText(value) {
  return isNumber(value) ? value.toFixed(3) : NONE;
}

function countText(value) {
  if (!isNumber(value)) return NONE;
  const digits = value >= 10 || value === Math.round(value) ? 0 : 1;
  return value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

function durationText(seconds) {
  if (!isNumber(seconds)) return NONE;
  const [factor, unit] = seconds < 1e-3 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
  const value = seconds * factor;
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
}

/* An element with attributes and children; texts stay texts, whatever they contain. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function byId(id) {
  return document.getElementById(id);
}
