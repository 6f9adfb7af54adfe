// Prints the PDF itself: the browser's own viewer in a hidden frame would need plugins, so each page
// is drawn at print resolution into an image of its own, shown to the printer only (reader.css).

import { toast } from "../ui/toasts.js";

const DPI = 150;

export async function printDocument(viewer) {
  toast(document.getElementById("reader-texts").dataset.preparing);
  const sheet = document.createElement("div");
  sheet.className = "print-sheets";
  document.body.append(sheet);
  const canvas = document.createElement("canvas");
  for (let number = 1; number <= viewer.count; number += 1) {
    const page = await viewer.pdf.getPage(number);
    sheet.append(await pictureOf(page, canvas));
  }
  addEventListener("afterprint", () => sheet.remove(), { once: true });
  print();
}

async function pictureOf(page, canvas) {
  const viewport = page.getViewport({ scale: DPI / 72 });
  Object.assign(canvas, { width: viewport.width, height: viewport.height });
  await page.render({ canvas, viewport, intent: "print" }).promise;
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.92));
  const image = new Image();
  image.src = URL.createObjectURL(blob);
  await image.decode();
  return image;
}
