// <li data-document draggable="true" data-collection-url="…" data-tag-url="…">
// dragged onto <a data-drop="collection | tag" data-id="…"> is added to it; the menu does the same by keyboard.

export function watchDrags(library) {
  let card;
  const urlOf = ({ dataset: { drop } }) => card.dataset[`${drop}Url`];
  const targetOf = (event) => {
    const target = card && event.target.closest("[data-drop]");
    return target && urlOf(target) && target;
  };
  const mark = (target) =>
    library.querySelectorAll("[data-drop]").forEach((place) => place.classList.toggle("drop-target", place === target));
  library.addEventListener("dragstart", (event) => {
    card = event.target.closest("[data-document]");
    if (!card) return;
    event.dataTransfer.setData("text/plain", card.id);
    library.classList.add("dragging");
  });
  library.addEventListener("dragend", () => {
    card = null;
    mark();
    library.classList.remove("dragging");
  });
  library.addEventListener("dragover", (event) => {
    const target = targetOf(event);
    if (target) event.preventDefault();
    mark(target);
  });
  library.addEventListener("drop", (event) => {
    const target = targetOf(event);
    if (!target) return;
    event.preventDefault();
    const { drop, id } = target.dataset;
    htmx.ajax("POST", urlOf(target), { source: card, swap: "none", values: { [drop]: id } });
  });
}
