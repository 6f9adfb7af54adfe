// Prints pictures of the pages, shown to the printer only (reader.css): the browser's viewer would need plugins.

import { toast } from "../ui/toasts.js";

const WIDTH = 1400; // px: 165 to the inch of a letter

export async function printDocument(viewer, preparing) {
  toast(preparing);
  const sheets = Object.assign(document.createElement("div"), { className: "print-sheets" });
  const canvas = document.createElement("canvas");
  for (let page = 1; page <= viewer.pdf.numPages; page += 1) {
    await viewer.draw(page, canvas, WIDTH, "print");
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
    const image = Object.assign(new Image(), { src: URL.createObjectURL(blob) });
    await image.decode();
    sheets.append(image);
  }
  document.body.append(sheets);
  addEventListener("afterprint", () => sheets.remove(), { once: true });
  print();
}
