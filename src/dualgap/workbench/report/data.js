/* What the reader has chosen to see of the data, kept in the address of the page, and the curves of that. */
const GAPS = DATA.gaps;
const RIVALS = new Set(DATA.rivals);

const state = {
  heat: DATA.heats[0],
  x: DATA.rivals.length ? "call_seconds" : "epoch",
  logX: null, // as the curves need it, until the reader chooses
  log: { suboptimality: true, relative_gap: true, primal: true, test_score: false, support: false },
  hidden: new Set(),
  sort: { column: "place", descending: false },
  filter: "",
};

/* The address says what differs from the page as it opens, so that a link shows what its sender saw. */
function keepState() {
  const said = new URLSearchParams();
  const { heat, x, logX, log, hidden, sort, filter } = state;
  if (heat !== DATA.heats[0]) said.set("problem", DATA.heats.indexOf(heat));
  if (x !== OPENING.x) said.set("x", x);
  if (logX !== null) said.set("logx", Number(logX));
  const switched = Object.keys(log).filter((y) => log[y] !== OPENING.log[y]);
  if (switched.length) said.set("logy", switched.join(" "));
  if (hidden.size) said.set("hidden", JSON.stringify([...hidden]));
  if (sort.column !== "place" || sort.descending) said.set("sort", `${sort.descending ? "-" : ""}${sort.column}`);
  if (filter) said.set("filter", filter);
  const words = said.toString();
  if (words || location.hash.includes("=")) history.replaceState(null, "", `#${words}`);
}

/* What the address says, as far as this page has it. */
function readState() {
  const said = new URLSearchParams(location.hash.slice(1));
  state.heat = DATA.heats[Number(said.get("problem"))] || state.heat;
  if (said.get("x") in X_NAMES) state.x = said.get("x");
  if (said.has("logx")) state.logX = said.get("logx") === "1";
  for (const y of (said.get("logy") || "").split(" ")) if (y in state.log) state.log[y] = !state.log[y];
  const column = (said.get("sort") || "").replace(/^-/, "");
  if (column in COLUMNS) state.sort = { column, descending: said.get("sort").startsWith("-") };
  state.filter = said.get("filter") || "";
  try {
    state.hidden = new Set(JSON.parse(said.get("hidden") || "[]"));
  } catch {
    state.hidden = new Set(); // an address that was cut
  }
}

const OPENING = { x: state.x, log: { ...state.log } };

/* The curves of the heat shown, as lists of numbers. */
function curves(y) {
  return state.heat.curves[state.x][y].map(([solver, runs, x, median, low, high]) => ({
    solver,
    runs,
    x: numbers(x),
    median: numbers(median),
    low: low === undefined ? null : numbers(low),
    high: high === undefined ? null : numbers(high),
  }));
}

/* The solvers of the heat shown that have a style, and so a place in the legend. */
function drawnSolvers() {
  const here = new Set(state.heat.rows.map((row) => row.solver));
  return Object.keys(DATA.styles).filter((solver) => here.has(solver));
}

function isShown(solver) {
  return solver in DATA.styles && !state.hidden.has(solver);
}
