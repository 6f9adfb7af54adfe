// <button data-theme-toggle>…</button>
// Light or dark: remembered in a cookie, so that the server draws the page right.

const YEAR = 31536000; // s

export function watchTheme() {
  const { dataset } = document.documentElement;
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-theme-toggle]")) return;
    const isDark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    dataset.theme = isDark ? "light" : "dark";
    document.cookie = `theme=${dataset.theme}; path=/; max-age=${YEAR}; samesite=lax`;
  });
}
