// <div class="page"> … <div class="marks">elements at their places</div></div>
// Our own elements over the pages. pdf.js drops them when it draws a page anew; they are put back.

const SVG = "http://www.w3.org/2000/svg";

/**
 * `make(item, put, view)` returns an element, or several; `put(element, box)` says where on the page. Returns
 * `show(items)`, which shows these and no others (each has a `page`), and `draw(page)`.
 */
export function pageLayer(viewer, name, make) {
  let byPage = new Map();
  let focused = null; // the element of ours that has the focus, also while its page is drawn anew

  function draw(page) {
    const view = viewer.view(page);
    view.div.querySelector(`:scope > .${name}`)?.remove();
    if (!byPage.has(page)) return;
    const layer = Object.assign(document.createElement("div"), { className: name });
    layer.append(...byPage.get(page).flatMap((item) => make(item, (element, box) => put(element, box, view), view)));
    view.div.append(layer);
    if (layer.contains(focused)) focused.focus({ preventScroll: true });
  }

  function drawAll() {
    for (let page = 1; page <= viewer.count; page += 1) if (viewer.view(page).pdfPage) draw(page);
  }

  document.addEventListener("focusin", ({ target }) => (focused = target.closest(`.${name}`) && target));
  document.addEventListener("pointerdown", () => (focused = null));
  viewer.on("pagerendered", ({ pageNumber }) => draw(pageNumber));
  ["scalechanging", "rotationchanging"].forEach((change) => viewer.on(change, drawAll));
  return { draw, show: (items) => ((byPage = Map.groupBy(items, ({ page }) => page)), drawAll()) };
}

/** A drawing over the whole page: `lines` of points [x, y], fractions of the page as its file shows it. */
export function drawing(lines, className, view) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 1 1");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", className);
  for (const points of lines) {
    const line = svg.appendChild(document.createElementNS(SVG, "polyline"));
    line.setAttribute("points", (view ? points.map((at) => pointOn(at, view)) : points).join(" "));
  }
  return svg;
}

/** [x, y] of the page as its file shows it, as fractions of the page as it is turned here. */
function pointOn([x, y], { pdfPage, viewport: now }) {
  const plain = pdfPage?.getViewport({ scale: 1 }) ?? now;
  const [across, down] = now.convertToViewportPoint(...plain.convertToPdfPoint(x * plain.width, y * plain.height));
  return [across / now.width, down / now.height];
}

/** A point of the window as [x, y], fractions of the page as its file shows it. */
export function pointOnPage(x, y, { div, pdfPage, viewport: now }) {
  const sheet = div.getBoundingClientRect();
  const plain = pdfPage.getViewport({ scale: 1 });
  const shown = [((x - sheet.left) * now.width) / sheet.width, ((y - sheet.top) * now.height) / sheet.height];
  const [across, down] = plain.convertToViewportPoint(...now.convertToPdfPoint(...shown));
  return [across / plain.width, down / plain.height];
}

/** A rectangle of the window as [x0, y0, x1, y1]. */
export function boxOnPage({ left, top, right, bottom }, view) {
  const [[a, b], [c, d]] = [pointOnPage(left, top, view), pointOnPage(right, bottom, view)];
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
}

/**
 * Puts an element at [x0, y0, x1, y1], fractions of the page as its file shows it. They go through pdf.js's own
 * viewport to PDF user space and back, so that turning, CropBox and UserUnit are its affair.
 */
function put(element, [x0, y0, x1, y1], { pdfPage, viewport: now }) {
  const plain = pdfPage?.getViewport({ scale: 1 }) ?? now;
  const from = plain.convertToPdfPoint(x0 * plain.width, y0 * plain.height);
  const to = plain.convertToPdfPoint(x1 * plain.width, y1 * plain.height);
  const [a, b, c, d] = now.convertToViewportRectangle([...from, ...to]);
  const percent = (length, whole) => `${(100 * length) / whole}%`;
  Object.assign(element.style, {
    left: percent(Math.min(a, c), now.width), width: percent(Math.abs(a - c), now.width),
    top: percent(Math.min(b, d), now.height), height: percent(Math.abs(b - d), now.height),
  });
  return element;
}
