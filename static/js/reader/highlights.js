// Paints stored rectangles on pages, and scrolls to them:
//   <div class="page"> … <div class="highlights"><div class="lit lit-unit lit-1" …></div></div></div>
// Boxes come as display fractions [x0, y0, x1, y1] of the page as its file shows it. They go through
// pdf.js's own viewport to PDF user space and back, so zoom, turning, CropBox and UserUnit are its affair.

const UPPER_THIRD = 0.3;
const LAYERS = [["unit", "unit"], ["heads", "head"], ["anchor", "anchor"]];

export class Highlights {
  #viewer;
  #shown = new Map(); // id → {page, unit, anchor, heads, colour, strong}
  #target = null;

  constructor(viewer) {
    this.#viewer = viewer;
    const redraw = ({ pageNumber }) => this.#draw(pageNumber);
    viewer.on("pagerendered", (event) => {
      redraw(event);
      this.#settle(event.pageNumber);
    });
    viewer.on("scalechanging", () => this.#drawAll());
    viewer.on("rotationchanging", () => this.#drawAll());
    viewer.scroller.addEventListener("wheel", () => (this.#target = null), { passive: true });
    viewer.scroller.addEventListener("pointerdown", () => (this.#target = null));
  }

  /** Shows one highlight under `id`; an earlier one of that id goes. */
  show(id, highlight) {
    const before = this.#shown.get(id);
    this.#shown.set(id, highlight);
    if (before && before.page !== highlight.page) this.#draw(before.page);
    this.#draw(highlight.page);
  }

  hide(id) {
    const before = this.#shown.get(id);
    if (this.#shown.delete(id)) this.#draw(before.page);
  }

  clear() {
    [...this.#shown.keys()].forEach((id) => this.hide(id));
    this.#target = null;
  }

  get isEmpty() {
    return this.#shown.size === 0;
  }

  /** Brings the highlight to the upper third of the window, and lets it pulse once. */
  reveal(id) {
    const highlight = this.#shown.get(id);
    if (!highlight) return;
    this.#target = { id, page: highlight.page };
    const view = this.#viewer.view(highlight.page);
    const near = Math.abs(this.#place(highlight) - this.#viewer.scroller.scrollTop) < 2 * this.#viewer.scroller.clientHeight;
    this.#scroll(highlight, near);
    if (view.renderingState === 3) this.#pulse(id);
    else this.#viewer.pages.update();
  }

  /** A page that was not drawn yet may have had another size: look again once it is there. */
  #settle(page) {
    if (this.#target?.page !== page) return;
    const { id } = this.#target;
    this.#target = null;
    this.#scroll(this.#shown.get(id), false);
    this.#pulse(id);
  }

  #scroll(highlight, near) {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const { scroller } = this.#viewer;
    const left = scroller.scrollWidth > scroller.clientWidth ? this.#left(highlight) : scroller.scrollLeft;
    scroller.scrollTo({ top: this.#place(highlight), left, behavior: near && !calm ? "smooth" : "instant" });
  }

  #place(highlight) {
    const view = this.#viewer.view(highlight.page);
    const boxes = highlight.anchor?.length ? highlight.anchor : highlight.unit ?? [];
    const top = boxes.length ? Math.min(...boxes.map((box) => onPage(view, box).top)) : -UPPER_THIRD;
    const room = this.#viewer.scroller.clientHeight;
    if (!boxes.length) return view.div.offsetTop - 8;
    return view.div.offsetTop + top * view.div.clientHeight - UPPER_THIRD * room;
  }

  #left(highlight) {
    const view = this.#viewer.view(highlight.page);
    const [box] = highlight.anchor?.length ? highlight.anchor : highlight.unit ?? [];
    if (!box) return this.#viewer.scroller.scrollLeft;
    const { left, width } = onPage(view, box);
    return view.div.offsetLeft + (left + width / 2) * view.div.clientWidth - this.#viewer.scroller.clientWidth / 2;
  }

  #pulse(id) {
    const { page } = this.#shown.get(id);
    const boxes = this.#viewer.view(page).div.querySelectorAll(`.lit-anchor[data-highlight="${CSS.escape(id)}"]`);
    boxes.forEach((box) => {
      box.classList.remove("lit-pulse");
      void box.offsetWidth;
      box.classList.add("lit-pulse");
    });
  }

  #drawAll() {
    new Set([...this.#shown.values()].map(({ page }) => page)).forEach((page) => this.#draw(page));
  }

  #draw(page) {
    const view = this.#viewer.view(page);
    if (!view) return;
    view.div.querySelector(":scope > .highlights")?.remove();
    const here = [...this.#shown].filter(([, highlight]) => highlight.page === page);
    if (!here.length || !view.pdfPage) return;
    const layer = document.createElement("div");
    layer.className = "highlights";
    layer.ariaHidden = "true";
    here.forEach(([id, highlight]) => layer.append(...paint(view, id, highlight)));
    view.div.append(layer);
  }
}

function paint(view, id, highlight) {
  return LAYERS.flatMap(([field, name]) =>
    (highlight[field] ?? []).map((box) => {
      const element = document.createElement("div");
      element.className = `lit lit-${name} lit-${((highlight.colour ?? 1) - 1) % 6 + 1}${highlight.verdict ? ` lit-${highlight.verdict}` : ""}`;
      element.dataset.highlight = id;
      const { left, top, width, height } = onPage(view, box);
      Object.assign(element.style, { left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * width}%`, height: `${100 * height}%` });
      return element;
    }));
}

/** Display fractions of the page as its file shows it → fractions of the page as it is drawn now. */
export function onPage(view, [x0, y0, x1, y1]) {
  const page = view.pdfPage;
  const now = view.viewport;
  if (!page) return { left: x0, top: y0, width: x1 - x0, height: y1 - y0 };
  const plain = page.getViewport({ scale: 1 });
  const corner = plain.convertToPdfPoint(x0 * plain.width, y0 * plain.height);
  const opposite = plain.convertToPdfPoint(x1 * plain.width, y1 * plain.height);
  const [a, b, c, d] = now.convertToViewportRectangle([...corner, ...opposite]);
  return {
    left: Math.min(a, c) / now.width,
    top: Math.min(b, d) / now.height,
    width: Math.abs(a - c) / now.width,
    height: Math.abs(b - d) / now.height,
  };
}
