// One place for keys: `bindKeys({ j: next })`; a key does nothing while somebody is typing.
// <button data-key="r">, <a data-key="gl"> are pressed by their keys (g, then l), <input data-key="/"> gets the focus;
// j and k go along <a data-result>.

const bindings = new Map();
let pending = "";

export function bindKeys(map) {
  Object.entries(map).forEach(([key, action]) => bindings.set(key, action));
}

export function watchKeys() {
  if (document.querySelector("[data-result]")) bindKeys({ j: () => goToResult(1), k: () => goToResult(-1) });
  document.addEventListener("keydown", press);
}

function goToResult(step) {
  const results = [...document.querySelectorAll("[data-result]")];
  results[results.indexOf(document.activeElement) + step]?.focus();
}

function isTyping(target) {
  return target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true], dialog[open]");
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const chord = pending + event.key;
  pending = event.key === "g" && !pending ? "g" : "";
  if (pending) setTimeout(() => (pending = ""), 1000);
  const target = document.querySelector(`[data-key~="${CSS.escape(chord)}"]`);
  const action = target ? () => target[target.matches("input") ? "focus" : "click"]() : bindings.get(chord);
  if (action && action(event) !== false) event.preventDefault();
}
