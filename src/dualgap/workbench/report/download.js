/* Downloads: what the page shows now, as CSV made in the browser. */
function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  // A spreadsheet takes a text that begins so for a formula.
  const text = /^[=+\-@\t]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function save(name, header, rows) {
  const text = [header, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n");
  const address = URL.createObjectURL(new Blob(["\ufeff", text, "\r\n"], { type: "text/csv;charset=utf-8" }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function saveTable() {
  const { data, loss, strength } = state.heat;
  const columns = Object.keys(COLUMNS);
  const names = { gap: "relative_gap", call: "call_seconds", updates: "update_seconds", test: testName(state.heat).replace(" ", "_") };
  const header = columns.map((name) => names[name] || name.replace(/^(seconds|epochs)(\d)$/, (_, unit, i) => `${unit === "seconds" ? "call_seconds" : unit}_to_${GAPS[i]}`));
  const rows = tableRows().map((row) => columns.map((name) => (name === "solver" ? row.solver : COLUMNS[name].value(row))));
  save("leaderboard.csv", ["data", "loss", "strength", ...header], rows.map((row) => [data, loss, strength, ...row]));
}

function saveCurves() {
  const { data, loss, strength } = state.heat;
  const rows = [];
  for (const y of Object.keys(state.log)) {
    for (const curve of curves(y).filter(({ solver }) => isShown(solver))) {
      curve.x.forEach((x, i) => {
        const band = curve.low ? [curve.low[i], curve.high[i]] : [null, null];
        const values = [x, curve.median[i], ...band].map((value) => (value === null ? null : Number(value.toPrecision(7))));
        rows.push([data, loss, strength, curve.solver, y, ...values, curve.runs]);
      });
    }
  }
  save("curves.csv", ["data", "loss", "strength", "solver", "quantity", state.x, "median", "low_5", "high_95", "runs"], rows);
}

async function copyCommand(button) {
  const code = button.parentElement.querySelector("code");
  getSelection().selectAllChildren(code);
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Selected"; // pages opened from a file may not write to the clipboard
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

function startDownloads() {
  byId("table-csv").addEventListener("click", saveTable);
  byId("curves-csv").addEventListener("click", saveCurves);
  for (const button of document.querySelectorAll(".copy")) button.addEventListener("click", () => copyCommand(button));
}
