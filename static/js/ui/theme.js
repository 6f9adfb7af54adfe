// <button data-theme-toggle>…</button>
// Remembered in a cookie, so that the server draws the page right.

export function watchTheme() {
  const { classList, dataset } = document.documentElement;
  const isDark = () => (dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const dress = () => classList.toggle("dark-mode", isDark()); // by which Swagger UI goes
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-theme-toggle]")) return;
    dataset.theme = isDark() ? "light" : "dark";
    document.cookie = `theme=${dataset.theme}; path=/; max-age=31536000; samesite=lax`;
    dress();
  });
  dress();
}
