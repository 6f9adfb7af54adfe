// <div data-reader data-file="…" data-worker="…" data-pdfjs="/static/pdfjs/">
//   <div data-pages><div class="pdfViewer"></div></div>
// Opens the PDF with pdf.js's own viewer components. Scripts in PDFs never run, nothing is eval'ed;
// wasm decoders run in the worker only.

import * as pdfjs from "../../pdfjs/build/pdf.min.mjs";
import { EventBus, LinkTarget, PDFFindController, PDFLinkService, PDFViewer } from "../../pdfjs/web/pdf_viewer.mjs";

export class Viewer {
  eventBus = new EventBus();
  element;
  scroller;
  pdf = null;
  links;
  pages;

  constructor(element) {
    this.element = element;
    this.scroller = element.querySelector("[data-pages]");
    const eventBus = this.eventBus;
    this.links = new PDFLinkService({ eventBus, externalLinkTarget: LinkTarget.BLANK, externalLinkRel: "noopener noreferrer nofollow" });
    const findController = new PDFFindController({ linkService: this.links, eventBus });
    this.pages = new PDFViewer({
      container: this.scroller,
      eventBus,
      linkService: this.links,
      findController,
      annotationMode: pdfjs.AnnotationMode.ENABLE,
      removePageBorders: true,
      enableAutoLinking: false,
      imageResourcesPath: `${element.dataset.pdfjs}web/images/`,
    });
    this.links.setViewer(this.pages);
    eventBus.on("pagerendered", () => performance.mark("first-page"), { once: true });
  }

  /** Resolves once the first page's size is known. `askPassword(again)` resolves to what a person typed. */
  async open(askPassword) {
    const { file, worker, pdfjs: base } = this.element.dataset;
    pdfjs.GlobalWorkerOptions.workerSrc = worker;
    const task = pdfjs.getDocument({
      url: file,
      cMapUrl: absolute(`${base}cmaps/`),
      standardFontDataUrl: absolute(`${base}standard_fonts/`),
      wasmUrl: absolute(`${base}wasm/`),
      iccUrl: absolute(`${base}iccs/`),
      isEvalSupported: false,
      enableXfa: false,
      disableStream: true,
      disableAutoFetch: true,
      rangeChunkSize: 1 << 18,
    });
    task.onPassword = async (answer, why) => answer(await askPassword(why === pdfjs.PasswordResponses.INCORRECT_PASSWORD));
    this.pdf = await task.promise;
    const ready = new Promise((resolve) => this.eventBus.on("pagesinit", resolve, { once: true }));
    this.pages.setDocument(this.pdf);
    this.links.setDocument(this.pdf);
    await ready;
  }

  get count() {
    return this.pages.pagesCount;
  }

  view(number) {
    return this.pages.getPageView(number - 1);
  }

  on(event, action, options) {
    this.eventBus.on(event, action, options);
  }
}

const absolute = (path) => new URL(path, document.baseURI).href;
