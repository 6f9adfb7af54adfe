// <script type="module" async>: pdf.js's worker, the most to load, starts first.

export const worker = new Worker(new URL("../../pdfjs/build/pdf.worker.min.mjs", import.meta.url), { type: "module" });
