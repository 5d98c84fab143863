/* The page comes to life: pickers, tiles, and the order in which things are drawn. */
function heatName(heat) {
  const losses = new Set(DATA.heats.map((other) => other.loss));
  return losses.size > 1 ? `${heat.data} · ${heat.loss}` : heat.data;
}

function strengthsOf(name) {
  return DATA.heats.filter((heat) => heatName(heat) === name);
}

function fillStrengths() {
  const options = strengthsOf(heatName(state.heat)).map((heat) =>
    make("option", { value: String(DATA.heats.indexOf(heat)) }, heat.typed_strength),
  );
  byId("strength").replaceChildren(...options);
  byId("strength").value = String(DATA.heats.indexOf(state.heat));
}

function startPickers() {
  const names = [...new Set(DATA.heats.map(heatName))];
  byId("data-set").append(...names.map((name) => make("option", { value: name }, name)));
  byId("data-set").value = heatName(state.heat);
  byId("data-set").addEventListener("change", (event) => {
    const heats = strengthsOf(event.target.value);
    // The same strength stays, where the other data set was raced with it too.
    state.heat = heats.find((heat) => heat.typed_strength === state.heat.typed_strength) || heats[0];
    fillStrengths();
    drawAll();
  });
  byId("strength").addEventListener("change", (event) => {
    state.heat = DATA.heats[Number(event.target.value)];
    drawAll();
  });
  fillStrengths();
}

function tile(name, value, more) {
  const content = make("dd", {}, value);
  if (more) content.append(make("small", {}, more));
  return make("div", {}, make("dt", {}, name), content);
}

function drawTiles() {
  const heat = state.heat;
  const best = heat.rows.find((row) => row.place === 1);
  const facts = heat.facts;
  const shape = facts.rows ? `${facts.rows.toLocaleString("en")} rows × ${Number(facts.columns).toLocaleString("en")}` : "";
  const tested = facts.test_rows ? `${facts.test_rows.toLocaleString("en")} held out` : "";
  const words = [shape, tested, heat.loss, `λ = ${heat.typed_strength}`, `asked for a relative gap of ${Number(heat.tol).toExponential()}${heat.gap_tol ? ` or a gap of ${Number(heat.gap_tol).toExponential()}` : ""}`, `up to ${heat.repeats} run${heat.repeats > 1 ? "s" : ""} per solver`];
  byId("facts").textContent = words.filter(Boolean).join(" · ");
  const measure = heat.certified ? "the time" : "the gap";
  const lead = heat.lead ? `${heat.lead[0]} needs ${plainText(heat.lead[1], 3)} × ${measure}` : "";
  const leader = heat.certified ? lead : lead && lead.replace("needs", "has");
  const tiles = [
    tile(heat.certified ? "Winner" : "Closest", best.solver, leader),
    tile("Proven relative gap", gapText(best.gap), best.status),
    tile(heat.certified ? "The whole call" : "Updates", durationText(heat.certified ? best.call : best.updates), isNumber(best.epoch) ? `${countText(best.epoch)} epochs` : ""),
  ];
  if (isNumber(best.test)) {
    const top = Math.max(...heat.rows.map((row) => row.test).filter(isNumber));
    tiles.push(tile(testName(heat).replace(/^t/, "T"), scoreText(best.test), top > best.test ? `${scoreText(top)} is the best` : ""));
  }
  if (heat.bounds) {
    const [dual, primal] = heat.bounds_words;
    tiles.push(tile("Optimum, proven between", dual, `and ${primal}`));
  }
  byId("tiles").replaceChildren(...tiles);
  byId("refusals").replaceChildren(...heat.refusals.map(([solver, sentence]) => make("li", {}, make("code", {}, solver), ` refused: ${sentence}`)));
  if (DATA.heats.length === 1) return;
  byId("facts").append(make("br"), make("strong", { id: "verdict" }, heat.verdict));
}

function drawCharts() {
  for (const drawOne of chartTasks()) drawOne();
  press(byId("log-x"), isLogX());
  keepState();
}

function chartTasks() {
  const figures = [...document.querySelectorAll(".chart[data-y]")];
  return [() => press(byId("log-x"), isLogX()), ...figures.map((figure) => () => drawCurve(figure)), drawProfile, drawCoefficients];
}

/* The first chart at once, each other in a turn of its own, so that the page answers in between. */
function drawInTurn([first, ...others]) {
  first();
  document.documentElement.dataset.interactive ||= String(Math.round(performance.now()));
  if (others.length) setTimeout(() => drawInTurn(others));
  else document.documentElement.dataset.drawn = String(Math.round(performance.now()));
}

function drawAll() {
  drawTiles();
  drawTable();
  drawLegend(drawCharts);
  if (document.documentElement.dataset.drawn) drawCharts();
}

readState();
startTheme(drawAll);
startPickers();
startTable();
startCharts();
startExtras();
startDownloads();
drawAll();
drawInTurn(chartTasks());
