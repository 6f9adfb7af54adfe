// <button data-theme-toggle>…</button>
// Remembered in a cookie, so that the server draws the page right.

export function watchTheme() {
  const { dataset } = document.documentElement;
  const isDark = () => (dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-theme-toggle]")) return;
    dataset.theme = isDark() ? "light" : "dark";
    document.cookie = `theme=${dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  });
}
