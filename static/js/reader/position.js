// Remembers each document's page, the place on it, zoom and turning, and goes back there next time.

export function rememberPosition(viewer) {
  const { pages } = viewer;
  const key = `place:${viewer.id}`;
  const { scale = "auto", pageNumber, left, top, rotation } = JSON.parse(localStorage.getItem(key)) ?? {};
  viewer.on("updateviewarea", ({ location }) => localStorage.setItem(key, JSON.stringify(location)));
  return {
    restoreZoom: () => (pages.currentScaleValue = Number(scale) / 100 || scale), // percent, or a preset's name
    restorePlace() {
      if (!(pageNumber <= viewer.count)) return;
      pages.pagesRotation = rotation;
      const destArray = [null, { name: "XYZ" }, left, top, null];
      pages.scrollPageIntoView({ pageNumber, destArray, allowNegativeOffset: true });
    },
  };
}
