// Zoom by two fingers, or by Ctrl and wheel (also pinching on trackpads), around their position.

import { MathClamp, TouchManager } from "../../pdfjs/build/pdf.min.mjs";

const DRAW_AFTER = 300; // ms without a step
const [WHEEL_STEP, MOST] = [100, 20]; // px of the wheel that zoom by e; that count of one turn

/** `pages` is a PDFViewer. */
export function zoomByHand(pages) {
  const { container } = pages;
  const zoom = (scaleFactor, origin) => pages.updateScale({ scaleFactor, origin, drawingDelay: DRAW_AFTER });
  const { signal } = new AbortController();
  new TouchManager({ container, signal, onPinching: (origin, before, now) => zoom(now / before, origin) });
  container.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(-MathClamp(event.deltaY, -MOST, MOST) / WHEEL_STEP), [event.clientX, event.clientY]);
  }, { passive: false });
}
