// <button data-do="print"> <button data-do="print-own" data-file="…/annotations/export.pdf">
// Prints pictures of the pages, which only the printer gets (reader.css).

import { toast } from "../ui/toasts.js";

const WIDTH = 1400; // px: 165 to the inch of a letter

/** `file`: another PDF than the viewer's, such as the one with one's own highlights in it. */
export async function printDocument(viewer, preparing, file) {
  toast(preparing);
  const pdf = file ? await viewer.read(file) : viewer.pdf;
  const sheets = Object.assign(document.createElement("div"), { className: "print-sheets" });
  const canvas = document.createElement("canvas");
  for (let page = 1; page <= pdf.numPages; page += 1) {
    await viewer.draw(page, canvas, WIDTH, "print", pdf);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
    const image = Object.assign(new Image(), { src: URL.createObjectURL(blob) });
    await image.decode();
    sheets.append(image);
  }
  document.body.append(sheets);
  addEventListener("afterprint", () => sheets.remove(), { once: true });
  print();
}
