// <script type="module" async>: pdf.js's worker, of which there is most to load, starts before all else.

export const worker = new Worker(new URL("../../pdfjs/build/pdf.worker.min.mjs", import.meta.url), { type: "module" });
