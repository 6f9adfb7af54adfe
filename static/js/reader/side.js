// <aside data-side> <div role="tabpanel" hx-get="…"> <a data-page="5"><canvas></canvas></a>
// Contents, pages, figures; the visible one is marked. Page pictures are drawn when they become visible.

const WIDTH = 132; // CSS px

/** Returns a function that opens and closes it. */
export function watchSide(viewer) {
  const side = document.querySelector("[data-side]");
  const button = document.querySelector("[data-do=side]");
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      viewer.draw(Number(target.parentElement.dataset.page), target, WIDTH * Math.min(devicePixelRatio, 2));
    }
  }, { rootMargin: "300px" });

  function mark() {
    if (side.hidden) return;
    const links = [...side.querySelectorAll("[role=tabpanel]:not([hidden]) [data-page]")];
    const here = links.findLast((link) => Number(link.dataset.page) <= viewer.page);
    links.forEach((link) => (link.ariaCurrent = link === here ? "true" : null));
    here?.scrollIntoView({ block: "nearest" });
  }

  viewer.on("pagechanging", mark);
  side.addEventListener("tabshown", mark);
  side.addEventListener("htmx:afterSettle", ({ target }) => {
    target.querySelectorAll("canvas").forEach((canvas) => seen.observe(canvas));
    mark();
  });
  const leave = (done) => done && getComputedStyle(side).position === "absolute" && (toggle(), button.focus());
  side.addEventListener("click", ({ target }) => leave(target.closest("[data-page]")));
  side.addEventListener("keydown", ({ key }) => leave(key === "Escape"));
  return toggle;

  function toggle() {
    side.hidden = !side.hidden;
    button.ariaExpanded = !side.hidden;
    mark();
  }
}
