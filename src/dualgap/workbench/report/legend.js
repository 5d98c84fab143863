/* The legend: a button per solver that hides and shows it, and one that shows it alone. */
function soloed() {
  const shown = drawnSolvers().filter(isShown);
  return shown.length === 1 && drawnSolvers().length > 1 ? shown[0] : null;
}

function solo(solver) {
  const others = drawnSolvers().filter((name) => name !== solver);
  const alone = soloed() === solver;
  state.hidden = new Set(alone ? [] : others);
}

function legendEntry(solver, redraw) {
  const toggle = make("button", { type: "button", class: "toggle", "data-solver": solver }, swatch(solver), make("span", { class: "name" }, solver));
  const only = make("button", { type: "button", class: "solo", "data-solo": solver, "aria-label": `only ${solver}` }, "only");
  toggle.addEventListener("click", () => {
    if (!state.hidden.delete(solver)) state.hidden.add(solver);
    markLegend();
    redraw();
  });
  const alone = () => {
    solo(solver);
    markLegend();
    redraw();
  };
  toggle.addEventListener("dblclick", alone);
  only.addEventListener("click", alone);
  return make("div", { class: "entry" }, toggle, only);
}

/* What is pressed now; the buttons stay, so that the focus stays where it is. */
function markLegend() {
  for (const button of document.querySelectorAll("#legend .toggle")) {
    button.setAttribute("aria-pressed", String(isShown(button.dataset.solver)));
  }
  for (const button of document.querySelectorAll("#legend .solo")) {
    button.setAttribute("aria-pressed", String(soloed() === button.dataset.solo));
  }
}

function drawLegend(redraw) {
  byId("legend").replaceChildren(...drawnSolvers().map((solver) => legendEntry(solver, redraw)));
  if (drawnSolvers().length > 1) {
    const all = make("button", { type: "button", id: "show-all" }, "Show all");
    all.addEventListener("click", () => {
      state.hidden.clear();
      markLegend();
      redraw();
    });
    byId("legend").append(make("div", { class: "entry" }, all));
  }
  markLegend();
}
