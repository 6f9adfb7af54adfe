// <div data-reader data-file="…" data-pdfjs="/static/pdfjs/">
//   <div data-pages><div class="pdfViewer"></div></div>
// Opens the PDF with pdf.js's own viewer components. Scripts in PDFs never run, nothing is eval'ed;
// wasm decoders run in the worker only.

import * as pdfjs from "../../pdfjs/build/pdf.min.mjs";
import {
  EventBus, LinkTarget, PDFLinkService, PDFViewer, RenderingStates,
} from "../../pdfjs/web/pdf_viewer.mjs";
import { arrived, worker } from "./ahead.js";

const annotationMode = pdfjs.AnnotationMode.ENABLE_STORAGE; // it says which are no longer drawn
const MOST_AHEAD = [[1200, 6], [2000, 3], [Infinity, 0]]; // pages drawn ahead, by width in px: they take memory

export class Viewer {
  eventBus = new EventBus();
  element;
  scroller;
  pages;
  pdf = null;
  place; // that is shown
  #ahead = []; // numbers of pages

  constructor(element) {
    this.element = element;
    this.scroller = element.querySelector("[data-pages]");
    const { eventBus } = this;
    const { pageName, comment } = this.scroller.dataset;
    const linkService = new PDFLinkService({ eventBus, externalLinkTarget: LinkTarget.BLANK });
    const follow = linkService.goToDestination.bind(linkService);
    linkService.goToDestination = (place) => (this.leave(), follow(place));
    this.pages = new PDFViewer({
      container: this.scroller,
      eventBus,
      linkService,
      annotationMode,
      annotationEditorMode: pdfjs.AnnotationEditorType.DISABLE, // highlights and ink are ours
      l10n: { pause() {}, resume() {} }, // else it takes time to name its parts in English
      removePageBorders: true,
      enableAutoLinking: false,
      imageResourcesPath: `${element.dataset.pdfjs}web/images/`,
    });
    linkService.setViewer(this.pages);
    const queue = this.pages.renderingQueue;
    const visible = queue.getHighestPriority.bind(queue);
    queue.getHighestPriority = (...asked) => visible(...asked) ?? this.#nextAhead();
    this.on("updateviewarea", ({ location: place }) => (this.place = place));
    this.on("pagesinit", () => this.scroller.querySelectorAll(".page").forEach((page) =>
      (page.ariaLabel = `${pageName} ${page.dataset.pageNumber}`)));
    this.on("pagerendered", () => performance.mark("first-page"), { once: true });
    this.on("rotationchanging", ({ pageNumber }) => (this.page = pageNumber)); // turned pages are of other heights
    this.on("textlayerrendered", ({ source }) => (source.textLayer.div.tabIndex = -1));
    this.on("annotationlayerrendered", ({ source }) =>
      source.annotationLayer?.div?.querySelectorAll("img:not([alt])").forEach((image) => (image.alt = comment)));
    new ResizeObserver(() => this.#fit()).observe(this.scroller);
  }

  /** Resolves once the first page's size is known. `askPassword(again)` resolves to what was typed, or null. */
  async open(askPassword) {
    const data = await arrived();
    pdfjs.GlobalWorkerOptions.workerPort = worker;
    const task = this.#task(data ? { data } : { url: this.element.dataset.file });
    task.onPassword = async (answer, why) => {
      const typed = await askPassword(why === pdfjs.PasswordResponses.INCORRECT_PASSWORD);
      answer(typed ?? new Error("No password was given."));
    };
    this.pdf = await task.promise;
    const ready = new Promise((resolve) => this.on("pagesinit", resolve, { once: true }));
    this.pages.setDocument(this.pdf);
    this.pages.linkService.setDocument(this.pdf);
    await ready;
    this.#sizePages();
  }

  /** Sizes pages before they are drawn: pdf.js gives them the first's, and they would move. */
  #sizePages() {
    const runs = JSON.parse(document.getElementById("page-sizes")?.textContent ?? "[]");
    const { constructor: Viewport, scale } = this.view(1).viewport;
    runs.forEach(([first, viewBox, pdfPageRotate, userUnit], at) => {
      for (let page = first; page < (runs[at + 1]?.[0] ?? this.count + 1) && page <= this.count; page += 1) {
        const view = this.view(page);
        if (view.pdfPage) continue;
        const viewport = new Viewport({ viewBox, userUnit, scale, rotation: pdfPageRotate });
        Object.assign(view, { pdfPageRotate, viewport });
      }
    });
  }

  /** Another file than the one that is shown. */
  read(url) {
    return this.#task({ url }).promise;
  }

  #task(source) {
    const base = new URL(this.element.dataset.pdfjs, location); // the worker has another
    return pdfjs.getDocument({
      ...source,
      cMapUrl: `${base}cmaps/`,
      standardFontDataUrl: `${base}standard_fonts/`,
      wasmUrl: `${base}wasm/`,
      iccUrl: `${base}iccs/`,
      isEvalSupported: false,
      isImageDecoderSupported: true, // as in pdf.js 6
      disableStream: true, // in parts, as they are needed
      disableAutoFetch: true,
      rangeChunkSize: 1 << 17,
    });
  }

  get id() {
    return this.element.dataset.document;
  }

  get count() {
    return this.pages.pagesCount;
  }

  get page() {
    return this.pages.currentPageNumber;
  }

  set page(number) {
    this.pages.currentPageNumber = number;
  }

  /** Says that what is shown is about to be left by a jump, so that it can be come back to. */
  leave() {
    this.eventBus.dispatch("leave", { source: this });
  }

  /** Goes to a place as `updateviewarea` says it. */
  show({ pageNumber, left, top }) {
    const destArray = [null, { name: "XYZ" }, left, top, null];
    this.pages.scrollPageIntoView({ pageNumber, destArray, allowNegativeOffset: true });
  }

  view(number) {
    return this.pages.getPageView(number - 1);
  }

  isDrawn(number) {
    return isDrawn(this.view(number));
  }

  /** Draws these pages, once those in sight are drawn, and parses those for which there is no room. */
  drawAhead(numbers) {
    this.#ahead = [...new Set(numbers)];
    if (this.pdf) this.pages.renderingQueue.renderHighestPriority();
  }

  #nextAhead() {
    const width = (this.view(1)?.width ?? Infinity) * devicePixelRatio;
    const [, most] = MOST_AHEAD.find(([widest]) => width <= widest);
    const next = this.#ahead.slice(0, most).map((number) => this.view(number)).find((view) => view && !isDrawn(view));
    if (!next) this.#parse(this.#ahead.splice(most).slice(0, 9));
    return next;
  }

  async #parse(numbers) {
    for (const number of numbers) if (this.view(number)) await this.draw(number, document.createElement("canvas"), 9);
  }

  /** Draws a page `width` pixels of the canvas wide. */
  async draw(number, canvas, width, intent = "display", pdf = this.pdf) {
    const page = await pdf.getPage(number);
    const viewport = page.getViewport({ scale: width / page.getViewport({ scale: 1 }).width });
    Object.assign(canvas, { width: viewport.width, height: viewport.height });
    await page.render({ canvas, viewport, intent, annotationMode }).promise;
  }

  on(event, action, options) {
    this.eventBus.on(event, action, options);
  }

  /** A zoom like "the width" is another one in a window of another size. */
  #fit() {
    const { currentScaleValue } = this.pages;
    if (Number.isNaN(Number(currentScaleValue))) this.pages.currentScaleValue = currentScaleValue;
  }
}

const isDrawn = ({ renderingState }) => renderingState === RenderingStates.FINISHED;
