/* The leaderboard: one row per solver, sorted by the header that was pressed, filtered by what was typed. */
const COLUMNS = {
  place: { value: (row) => row.place, text: countText },
  solver: { value: (row) => row.solver.toLowerCase() },
  call: { value: (row) => row.call, text: durationText, best: Math.min },
  gap: { value: (row) => row.gap, text: gapText, best: Math.min },
  status: { value: (row) => row.status },
  updates: { value: (row) => row.updates, text: durationText, best: Math.min },
  primal: { value: (row) => row.primal, text: (value) => plainText(value, 7), best: Math.min },
  test: { value: (row) => row.test, text: scoreText, best: Math.max },
  seconds0: { value: (row) => row.seconds[0], text: durationText, best: Math.min },
  seconds1: { value: (row) => row.seconds[1], text: durationText, best: Math.min },
  seconds2: { value: (row) => row.seconds[2], text: durationText, best: Math.min },
  epochs0: { value: (row) => row.epochs[0], text: countText, best: Math.min },
  epochs1: { value: (row) => row.epochs[1], text: countText, best: Math.min },
  epochs2: { value: (row) => row.epochs[2], text: countText, best: Math.min },
  support: { value: (row) => row.support, text: countText },
};

/* The rows as they stand now; what is missing goes last in either direction. */
function tableRows() {
  const { column, descending } = state.sort;
  const value = COLUMNS[column].value;
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = state.heat.rows.filter((row) => {
    const text = `${row.solver} ${row.status}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return kept.sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return (a === null) - (b === null) || one.place - other.place;
    const order = a < b ? -1 : a > b ? 1 : 0;
    return (descending ? -order : order) || one.place - other.place;
  });
}

function bestValues() {
  const found = {};
  // A time is good where it led to the goal; where no solver got there, and of all else, every row counts.
  const reached = state.heat.rows.filter((row) => row.certified);
  for (const [name, column] of Object.entries(COLUMNS)) {
    const rows = reached.length && ["call", "updates"].includes(name) ? reached : state.heat.rows;
    const values = column.best ? rows.map(column.value).filter(isNumber) : [];
    if (values.length > 1) found[name] = column.best(...values);
  }
  return found;
}

function tableRow(row, best) {
  const line = make("tr", row.place === 1 ? { class: "winner" } : {});
  for (const [name, column] of Object.entries(COLUMNS)) {
    const value = column.value(row);
    if (name === "solver") {
      line.append(make("td", { class: "solver pinned" }, make("span", {}, swatch(row.solver), make("span", {}, row.solver))));
    } else if (name === "status") {
      const kind = row.certified ? "status certified" : "status";
      line.append(make("td", { class: "left" }, make("span", { class: kind, title: row.sentence }, row.status)));
    } else {
      const kind = value === null ? "missing" : best[name] === value ? "best" : name === "place" ? "place" : "";
      const cell = make("td", kind ? { class: kind } : {}, column.text(value));
      if (isNumber(value) && name !== "place") cell.title = String(value);
      line.append(cell);
    }
  }
  return line;
}

function drawTable() {
  const best = bestValues();
  const rows = tableRows();
  const body = document.querySelector("#table tbody");
  body.replaceChildren(...rows.map((row) => tableRow(row, best)));
  if (!rows.length) body.append(make("tr", {}, make("td", { colspan: "15", class: "left" }, "No solver fits the filter.")));
  for (const header of document.querySelectorAll("#table th")) {
    const button = header.querySelector("button");
    if (button && button.dataset.column === state.sort.column) {
      header.setAttribute("aria-sort", state.sort.descending ? "descending" : "ascending");
    } else {
      header.removeAttribute("aria-sort");
    }
  }
  const [test, score] = testName(state.heat).split(" ");
  byId("test-name").replaceChildren(test, make("br"), score);
  const repeats = state.heat.repeats;
  const medians = repeats > 1 ? `Medians of up to ${repeats} repeats; a gap counts as reached when half of them got there. ` : "";
  byId("table-caption").textContent = `${medians}“call” is the wall time of the whole call that reached the goal, for other packages that of the fit; “updates” is that of a solver’s updates alone, which no other package tells. Bold green is the best of a column.`;
}

function startTable() {
  for (const button of document.querySelectorAll("#table th button")) {
    button.addEventListener("click", () => {
      const column = button.dataset.column;
      const again = state.sort.column === column;
      state.sort = { column, descending: again ? !state.sort.descending : column === "test" };
      drawTable();
      keepState();
    });
  }
  byId("filter").value = state.filter;
  byId("filter").addEventListener("input", (event) => {
    state.filter = event.target.value;
    drawTable();
    keepState();
  });
}
