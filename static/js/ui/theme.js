// <button data-theme-toggle>…</button>
// Light or dark: remembered in a cookie, so that the server draws the page right from its first byte.

const YEAR = 365 * 24 * 3600;

export function watchTheme() {
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) choose(isDark() ? "light" : "dark");
  });
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function choose(theme) {
  document.documentElement.dataset.theme = theme;
  document.cookie = `theme=${theme}; path=/; max-age=${YEAR}; samesite=lax`;
}
