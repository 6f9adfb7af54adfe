// <aside data-side> <div data-contents data-url="…"> <div data-thumbnails>
// Contents and page thumbnails; both are made when first looked at, thumbnails only when in sight.

import { request } from "../ui/request.js";

const WIDTH = 132;

export class Side {
  #viewer;
  #element = document.querySelector("[data-side]");

  constructor(viewer) {
    this.#viewer = viewer;
    this.#element.addEventListener("click", (event) => this.#follow(event));
    this.#element.addEventListener("tabshown", ({ detail }) => this.#fill(detail));
    viewer.on("pagechanging", ({ pageNumber }) => this.#mark(pageNumber));
  }

  toggle(button) {
    this.#element.hidden = !this.#element.hidden;
    button.setAttribute("aria-expanded", String(!this.#element.hidden));
    if (!this.#element.hidden) this.#fill(this.#element.querySelector("[role=tabpanel]:not([hidden])"));
  }

  async #fill(pane) {
    if (pane.dataset.filled) return this.#mark(this.#viewer.pages.currentPageNumber);
    pane.dataset.filled = "1";
    if ("contents" in pane.dataset) pane.innerHTML = await (await request(pane.dataset.url)).text();
    else this.#layOut(pane);
    this.#mark(this.#viewer.pages.currentPageNumber);
  }

  #layOut(pane) {
    const label = document.getElementById("reader-texts").dataset.page;
    const watcher = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => {
      watcher.unobserve(target);
      this.#drawThumbnail(target);
    }), { root: pane, rootMargin: "300px" });
    for (let page = 1; page <= this.#viewer.count; page += 1) {
      const link = document.createElement("a");
      link.href = `?page=${page}`;
      link.dataset.page = page;
      link.ariaLabel = `${label} ${page}`;
      link.append(document.createElement("canvas"), Object.assign(document.createElement("span"), { textContent: page }));
      pane.append(link);
      watcher.observe(link);
    }
  }

  async #drawThumbnail(link) {
    const page = await this.#viewer.pdf.getPage(Number(link.dataset.page));
    await drawPage(page, link.querySelector("canvas"), WIDTH);
  }

  #follow(event) {
    const link = event.target.closest("[data-page]");
    if (!link) return;
    event.preventDefault();
    this.#viewer.pages.currentPageNumber = Number(link.dataset.page);
  }

  #mark(page) {
    if (this.#element.hidden) return;
    const pane = this.#element.querySelector("[role=tabpanel]:not([hidden])");
    const links = [...pane.querySelectorAll("[data-page]")];
    const here = links.findLast((link) => Number(link.dataset.page) <= page);
    links.forEach((link) => link.removeAttribute("aria-current"));
    here?.setAttribute("aria-current", "true");
    here?.scrollIntoView({ block: "nearest" });
  }
}

/** Draws a page into a canvas `width` CSS pixels wide. */
export async function drawPage(page, canvas, width) {
  const plain = page.getViewport({ scale: 1 });
  const viewport = page.getViewport({ scale: (width / plain.width) * Math.min(devicePixelRatio, 2) });
  canvas.width = viewport.width;
  canvas.height = viewport.height;
  await page.render({ canvas, viewport }).promise;
  return plain.height / plain.width;
}
