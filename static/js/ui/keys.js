// Keyboard shortcuts: `bindKeys({ j: next })`. Keys without Ctrl or Cmd (`^f`) are ignored while typing.
// <button data-key="r">, <a data-key="gl"> are pressed by their keys (g, then l), <input data-key="/"> gets the focus;
// j and k go along <a data-result>; what goes leaves the focus to the next of them, or to what held it.

const bindings = new Map();
let pending = "";

export function bindKeys(map) {
  Object.entries(map).forEach(([key, action]) => bindings.set(key, action));
}

export function watchKeys() {
  bindKeys({ j: () => goToResult(1), k: () => goToResult(-1) });
  document.addEventListener("keydown", press);
  document.addEventListener("htmx:beforeCleanupElement", passOn);
}

const results = () => [...document.querySelectorAll("[data-result]")];

function goToResult(step) {
  results()[results().indexOf(document.activeElement) + step]?.focus();
}

function passOn({ target }) {
  const all = results();
  const at = all.findIndex((one) => target.contains(one));
  if (!target.contains(document.activeElement)) return;
  const near = (at >= 0 && (all[at + 1] ?? all[at - 1])) || target.parentElement.closest("[tabindex]");
  setTimeout(() => document.activeElement === document.body && near?.focus());
}

function isTyping(target) {
  const fields = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true]";
  return target.closest?.(`${fields}, dialog[open], :popover-open`);
}

function press(event) {
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey || (control ? document.querySelector("dialog[open]") : isTyping(event.target))) return;
  const chord = pending + (control ? "^" : "") + event.key;
  pending = event.key === "g" && !pending ? "g" : "";
  if (pending) setTimeout(() => (pending = ""), 1000);
  const target = document.querySelector(`[data-key~="${CSS.escape(chord)}"]`);
  const action = target ? () => activate(target) : bindings.get(chord);
  if (action && action(event) !== false) event.preventDefault();
}

/** Focuses a field, presses anything else. What was put in just now may not have been bound by htmx yet. */
function activate(target) {
  if (target.matches("input, textarea")) return target.focus();
  window.htmx?.process(target.closest("form") ?? target);
  target.click();
}
