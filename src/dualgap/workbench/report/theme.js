/* Light and dark: the system's choice until the reader makes one. */
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = remembered();

function remembered() {
  try {
    return localStorage.getItem("dualgap-theme");
  } catch {
    return null; // pages opened from a file may not be allowed to remember
  }
}

function theme() {
  return chosenTheme || (dark.matches ? "dark" : "light");
}

function applyTheme() {
  document.documentElement.dataset.theme = theme();
  byId("theme").setAttribute("aria-pressed", String(theme() === "dark"));
}

function startTheme(redraw) {
  applyTheme();
  byId("theme").addEventListener("click", () => {
    chosenTheme = theme() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("dualgap-theme", chosenTheme);
    } catch {
      // the choice then holds for this visit
    }
    applyTheme();
    redraw();
  });
  dark.addEventListener("change", () => {
    applyTheme();
    redraw();
  });
}

/* A color of the style sheet. */
function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
