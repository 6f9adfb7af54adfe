// <button data-do="back" disabled> <button data-do="forward" disabled>
// Jumps (links, the outline, citations, matches, page numbers) are entries of the browser's history, by number.

/** Returns the actions of the buttons. */
export function rememberJumps(viewer) {
  const places = []; // of the entries
  const number = () => history.state?.jump ?? 0;
  let at = number();

  const show = () => Object.entries({ back: places[at - 1], forward: places[at + 1] }).forEach(([name, place]) =>
    document.querySelectorAll(`[data-do=${name}]`).forEach((button) => (button.disabled = !place)));

  viewer.on("leave", () => {
    const { place } = viewer;
    if (!place || same(place, places[at - 1])) return;
    places.splice(at, Infinity, place);
    history.pushState({ jump: (at += 1) }, "");
    show();
  });
  addEventListener("popstate", () => {
    places[at] = viewer.place;
    at = number();
    if (places[at]) viewer.show(places[at]);
    show();
  });
  document.addEventListener("keydown", (event) => {
    const action = event.altKey && { ArrowLeft: back, ArrowRight: forward }[event.key];
    if (action && !event.target.matches("input, textarea")) action(event.preventDefault());
  });
  const [back, forward] = [() => history.back(), () => history.forward()];
  return { back, forward };
}

const same = (one, other) => one?.pageNumber === other?.pageNumber && one?.top === other?.top;
