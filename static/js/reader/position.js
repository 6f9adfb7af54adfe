// <script id="place">{"pageNumber": 5, "left": 0, "top": 700, "rotation": 0, "at": 1795400000000}</script>
// Remembers each document's page, place, rotation and zoom in this browser, and all but the zoom on the server:
// the later of the two counts.

import { request } from "../ui/request.js";

const STILL = 1500; // ms at one place

export function rememberPosition(viewer) {
  const { pages } = viewer;
  const key = `place:${viewer.id}`;
  const own = JSON.parse(localStorage.getItem(key));
  const shared = JSON.parse(document.getElementById("place").textContent);
  const { scale = "auto" } = own ?? {};
  const { pageNumber, left, top, rotation } = ((own?.at ?? 0) > (shared?.at ?? 0) ? own : shared ?? own) ?? {};
  let timer, here;

  function keep() {
    timer = clearTimeout(timer);
    const body = new FormData();
    body.set("place", JSON.stringify(here));
    const sent = request(viewer.element.dataset.placeUrl, { method: "POST", body, keepalive: true });
    sent.catch(() => {}); // the next will do
  }

  viewer.on("updateviewarea", ({ location: place }) => {
    localStorage.setItem(key, JSON.stringify({ ...place, at: Date.now() }));
    here = { pageNumber: place.pageNumber, left: place.left, top: place.top, rotation: place.rotation };
    clearTimeout(timer);
    timer = setTimeout(keep, STILL);
  });
  addEventListener("pagehide", () => timer && keep());
  return {
    restoreZoom: () => (pages.currentScaleValue = Number(scale) / 100 || scale), // percent, or a preset's name
    restorePlace() {
      if (!(pageNumber <= viewer.count)) return;
      pages.pagesRotation = rotation;
      viewer.show({ pageNumber, left, top });
    },
  };
}
