// <button data-theme-toggle>…</button>
// Stored in a cookie, so that the server renders the page in this theme.

export function watchTheme() {
  const { dataset } = document.documentElement;
  const isDark = () => (dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-theme-toggle]")) return;
    dataset.theme = isDark() ? "light" : "dark";
    document.cookie = `theme=${dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  });
}
