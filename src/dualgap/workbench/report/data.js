/* What the reader has chosen to see of the data, and the curves of that. */
const GAPS = DATA.gaps;
const RIVALS = new Set(DATA.rivals);

const state = {
  heat: DATA.heats[0],
  x: DATA.rivals.length ? "seconds" : "epoch",
  logX: DATA.rivals.length > 0,
  log: { relative_gap: true, primal: true, test_score: false, support: false },
  hidden: new Set(),
  sort: { column: "place", descending: false },
  filter: "",
};

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
