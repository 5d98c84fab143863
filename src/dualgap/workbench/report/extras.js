/* The charts that not every race has: the performance profile, and coefficients against the true ones. */
function profileWords(name) {
  const [measure, gap] = name.split(" ");
  return `${measure === "epoch" ? "epochs" : "seconds of the call"} to a gap of ${Number(gap).toExponential()}`;
}

function profileTraces(profiles) {
  const farthest = 1.25 * Math.max(2, ...profiles.flatMap((profile) => profile.ratio));
  return profiles.filter((profile) => isShown(profile.solver)).map((profile) => {
    const { color, dash, symbol } = styleOf(profile.solver);
    const first = profile.ratio[0] === 1 ? profile.fraction[0] : 0;
    const last = profile.fraction.length ? profile.fraction[profile.fraction.length - 1] : 0;
    return {
      name: profile.solver,
      x: [1, ...profile.ratio, farthest],
      y: [first, ...profile.fraction, last],
      line: { color, dash, width: 2, shape: "hv" },
      marker: { color, symbol, size: 8 },
      words: (i) => {
        const [ratio, fraction] = [[1, ...profile.ratio, farthest][i], [first, ...profile.fraction, last][i]];
        return [`${Math.round(100 * fraction)}% of the problems within ${exact(ratio, 3)} times the best`];
      },
    };
  });
}

function drawProfile() {
  const figure = document.querySelector('[data-extra="profile"]');
  if (!figure) return;
  const profiles = DATA.profiles[byId("profile-pick").value] || [];
  const layout = baseLayout(
    { type: "log", title: { text: "multiple of the best solver’s effort" } },
    { range: [-0.03, 1.05], tickformat: ".0%" },
  );
  draw(figure.querySelector(".plot"), profileTraces(profiles), layout, "Every solver is hidden.");
}

function drawCoefficients() {
  const figure = document.querySelector('[data-extra="coefficients"]');
  if (!figure) return;
  const found = state.heat.coefficients;
  const plot = figure.querySelector(".plot");
  byId("coefficients-words").textContent = found ? coefficientWords(found) : "";
  const layout = baseLayout({ title: { text: "true β" } }, { title: { text: "found" } });
  if (!found) return draw(plot, [], layout, "The true β of this data set is not known.");
  const truth = [...numbers(found.truth)];
  const columns = [...numbers(found.columns)];
  const ends = [Math.min(...truth), Math.max(...truth)];
  const diagonal = { x: ends, y: ends, line: { color: cssColor("--soft"), width: 1, dash: "dot" } };
  const traces = found.solvers.filter(([solver]) => isShown(solver)).map(([solver, place, cosine]) => {
    const { color, symbol } = styleOf(solver);
    const ours = [...numbers(place)];
    return {
      name: solver,
      x: truth,
      y: ours,
      marker: { color, symbol, size: 8, opacity: 0.85 },
      words: (i) => [`column ${columns[i]}`, `true ${exact(truth[i], 4)}`, `found ${exact(ours[i], 4)}`, `cosine with β ${cosine.toFixed(4)}`],
    };
  });
  return draw(plot, traces.length ? [diagonal, ...traces] : [], layout, "Every solver is hidden.");
}

function coefficientWords(found) {
  const scaled = found.scaled ? "Both scaled to length 1. " : "";
  const fewer = found.left_out ? `${found.left_out} columns are left out here. ` : "";
  const [best, , cosine] = found.solvers.reduce((one, other) => (other[2] > one[2] ? other : one));
  return `${scaled}${fewer}Closest in direction: ${best}, cosine ${cosine.toFixed(4)}`;
}

function startExtras() {
  const pick = byId("profile-pick");
  if (!pick) return;
  // The first is the call's seconds to the tolerance asked for.
  pick.append(...Object.keys(DATA.profiles).map((name) => make("option", { value: name }, profileWords(name))));
  pick.addEventListener("change", drawProfile);
}
