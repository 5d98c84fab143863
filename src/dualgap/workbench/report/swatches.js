/* How a solver looks: color, dash and symbol, in charts and as a small picture beside its name. */
// Okabe and Ito's black and yellow vanish on a dark and on a light ground; these stand in there.
const STAND_INS = { dark: { "#000000": "#F2F0EB" }, light: { "#F0E442": "#A89B00" } };
const DASHES = { solid: "", dash: "6 3", dot: "2 3", dashdot: "7 3 2 3", longdash: "10 4", longdashdot: "10 3 2 3" };
const SHAPES = {
  circle: "M17 3.5a3.5 3.5 0 1 0 .01 0z",
  square: "M13.7 3.7h6.6v6.6h-6.6z",
  diamond: "M17 2.4 21.6 7 17 11.6 12.4 7z",
  "triangle-up": "M17 2.5 21.5 10.5h-9z",
  "triangle-down": "M17 11.5 12.5 3.5h9z",
  cross: "M15.6 2.6h2.8v3h3v2.8h-3v3h-2.8v-3h-3V5.6h3z",
  x: "M13 4.4 14.4 3 17 5.6 19.6 3 21 4.4 18.4 7 21 9.6 19.6 11 17 8.4 14.4 11 13 9.6 15.6 7z",
  star: "M17 2l1.4 3.2 3.4.3-2.6 2.3.8 3.4-3-1.8-3 1.8.8-3.4-2.6-2.3 3.4-.3z",
  hexagon: "M15 3.2h4L21.4 7 19 10.8h-4L12.6 7z",
};

function styleOf(solver) {
  const [color, dash, symbol] = DATA.styles[solver];
  return { color: STAND_INS[theme()][color] || color, dash, symbol };
}

/* The same color, see-through, for bands. */
function faint(color, alpha) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return `rgba(${red}, ${green}, ${blue}, ${alpha})`;
}

function swatch(solver) {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("class", "swatch");
  picture.setAttribute("viewBox", "0 0 34 14");
  picture.setAttribute("aria-hidden", "true");
  if (!(solver in DATA.styles)) return picture;
  const { color, dash, symbol } = styleOf(solver);
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", "M0 7H34");
  line.setAttribute("stroke", color);
  line.setAttribute("stroke-width", "2");
  line.setAttribute("stroke-dasharray", DASHES[dash]);
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", SHAPES[symbol]);
  shape.setAttribute("fill", color);
  picture.append(line, shape);
  return picture;
}
