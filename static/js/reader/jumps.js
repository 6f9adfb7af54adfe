// <button data-do="back" disabled> <button data-do="forward" disabled>
// Back and forward through jumps: links, the outline, citations, matches, page numbers. Also by Alt and an arrow.

const MOST = 100;

/** Returns the actions of the buttons. */
export function rememberJumps(viewer) {
  const [before, after] = [[], []];

  const show = () => [["back", before], ["forward", after]].forEach(([name, places]) =>
    document.querySelectorAll(`[data-do=${name}]`).forEach((button) => (button.disabled = !places.length)));

  function leave() {
    if (viewer.place && !same(viewer.place, before.at(-1))) before.push(viewer.place);
    after.length = 0;
    if (before.length > MOST) before.shift();
    show();
  }

  /** False when there is nowhere to go. */
  function go(from, to) {
    while (from.length && same(from.at(-1), viewer.place)) from.pop();
    const place = from.pop();
    if (place) {
      to.push(viewer.place);
      viewer.show(place);
    }
    show();
    return Boolean(place);
  }

  viewer.on("leave", leave);
  const [back, forward] = [() => go(before, after), () => go(after, before)];
  document.addEventListener("keydown", (event) => {
    const action = event.altKey && { ArrowLeft: back, ArrowRight: forward }[event.key];
    if (action && !event.target.matches("input, textarea") && action()) event.preventDefault();
  });
  return { back, forward };
}

const same = (one, other) => one?.pageNumber === other?.pageNumber && one?.top === other?.top;
