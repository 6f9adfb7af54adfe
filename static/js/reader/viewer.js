// <div data-reader data-file="…" data-pdfjs="/static/pdfjs/">
//   <div data-pages><div class="pdfViewer"></div></div>
// Opens the PDF with pdf.js's own viewer components. Scripts in PDFs never run, nothing is eval'ed;
// wasm decoders run in the worker only.

import * as pdfjs from "../../pdfjs/build/pdf.min.mjs";
import {
  EventBus, LinkTarget, PDFLinkService, PDFViewer, RenderingStates,
} from "../../pdfjs/web/pdf_viewer.mjs";
import { arrived, worker } from "./ahead.js";

export class Viewer {
  eventBus = new EventBus();
  element;
  scroller;
  pages;
  pdf = null;

  constructor(element) {
    this.element = element;
    this.scroller = element.querySelector("[data-pages]");
    const { eventBus } = this;
    const linkService = new PDFLinkService({ eventBus, externalLinkTarget: LinkTarget.BLANK });
    this.pages = new PDFViewer({
      container: this.scroller,
      eventBus,
      linkService,
      annotationMode: pdfjs.AnnotationMode.ENABLE,
      removePageBorders: true,
      enableAutoLinking: false,
      imageResourcesPath: `${element.dataset.pdfjs}web/images/`,
    });
    linkService.setViewer(this.pages);
    this.on("pagerendered", () => performance.mark("first-page"), { once: true });
    this.on("rotationchanging", ({ pageNumber }) => (this.page = pageNumber)); // turned pages are of other heights
    this.on("textlayerrendered", ({ source }) => (source.textLayer.div.tabIndex = -1));
    new ResizeObserver(() => this.#fit()).observe(this.scroller);
  }

  /** Resolves once the first page's size is known. `askPassword(again)` resolves to what was typed, or null. */
  async open(askPassword) {
    const { file, pdfjs: folder } = this.element.dataset;
    const data = await arrived();
    const base = new URL(folder, location); // the worker has another
    pdfjs.GlobalWorkerOptions.workerPort = worker;
    const task = pdfjs.getDocument({
      ...(data ? { data } : { url: file }),
      cMapUrl: `${base}cmaps/`,
      standardFontDataUrl: `${base}standard_fonts/`,
      wasmUrl: `${base}wasm/`,
      iccUrl: `${base}iccs/`,
      isEvalSupported: false,
      disableStream: true, // in parts, as they are needed
      disableAutoFetch: true,
      rangeChunkSize: 1 << 17,
    });
    task.onPassword = async (answer, why) => {
      const typed = await askPassword(why === pdfjs.PasswordResponses.INCORRECT_PASSWORD);
      answer(typed ?? new Error("No password was given."));
    };
    this.pdf = await task.promise;
    const ready = new Promise((resolve) => this.on("pagesinit", resolve, { once: true }));
    this.pages.setDocument(this.pdf);
    this.pages.linkService.setDocument(this.pdf);
    await ready;
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

  view(number) {
    return this.pages.getPageView(number - 1);
  }

  isDrawn(number) {
    return this.view(number).renderingState === RenderingStates.FINISHED;
  }

  /** Draws a page `width` pixels of the canvas wide. */
  async draw(number, canvas, width, intent = "display") {
    const page = await this.pdf.getPage(number);
    const viewport = page.getViewport({ scale: width / page.getViewport({ scale: 1 }).width });
    Object.assign(canvas, { width: viewport.width, height: viewport.height });
    await page.render({ canvas, viewport, intent }).promise;
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
