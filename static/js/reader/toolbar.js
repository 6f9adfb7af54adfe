// <header data-toolbar> <button data-do="zoom-in"> <input data-page-input> <select data-zoom> …

const bar = document.querySelector("[data-toolbar]");

/** `actions` by the name of their button. */
export function watchButtons({ pages }, actions) {
  const turn = () => (pages.pagesRotation = (pages.pagesRotation + 90) % 360);
  const fit = (scale) => () => (pages.currentScaleValue = scale);
  const all = {
    previous: () => pages.previousPage(), next: () => pages.nextPage(),
    "zoom-in": () => pages.increaseScale(), "zoom-out": () => pages.decreaseScale(),
    width: fit("page-width"), whole: fit("page-fit"), rotate: turn, ...actions,
  };
  bar.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-do]");
    all[button?.dataset.do]?.(button);
  });
}

/** The field takes and shows numbers, or the labels that the PDF gives its pages. */
export function watchPageField(viewer) {
  const field = bar.querySelector("[data-page-input]");
  const count = bar.querySelector("[data-page-count]");
  let labels = null;
  const show = () => {
    const { page, pdf } = viewer;
    const label = labels?.[page - 1] || String(page);
    if (document.activeElement !== field) field.value = label;
    count.textContent = label === String(page) ? `/ ${pdf.numPages}` : `(${page} / ${pdf.numPages})`;
  };
  const read = async () => {
    labels = await viewer.pdf.getPageLabels();
    show();
  };
  viewer.on("pagechanging", show);
  field.onfocus = () => field.select();
  field.onkeydown = ({ key }) => void (key === "Enter" && viewer.scroller.focus());
  field.onchange = () => {
    const text = field.value.trim();
    viewer.leave();
    viewer.page = (labels?.indexOf(text) ?? -1) + 1 || Number.parseInt(text, 10) || viewer.page;
    show();
  };
  if (viewer.pdf) read();
  else viewer.on("pagesinit", read);
}

export function watchZoom(viewer) {
  const select = bar.querySelector("[data-zoom]");
  const custom = select.querySelector("[value=custom]");
  select.onchange = () => (viewer.pages.currentScaleValue = select.value);
  const show = () => {
    const { currentScale, currentScaleValue } = viewer.pages;
    const known = [...select.options]
      .find(({ value }) => value === currentScaleValue || Number(value) === currentScale);
    custom.textContent = `${Math.round(100 * currentScale)} %`;
    select.value = (known ?? custom).value;
  };
  viewer.on("scalechanging", show);
  if (viewer.pdf) show();
}
