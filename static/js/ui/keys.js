// One place for keys: `bindKeys({ j: next })`; a key does nothing while somebody is typing.
// <button data-key="r">, <a data-key="gl"> are pressed by their keys (g, then l); <input data-slash> is where "/" goes;
// <button data-show-keys> opens the list of keys (<dialog id="keys">).

const bindings = new Map();
let pending = "";

export function bindKeys(map) {
  Object.entries(map).forEach(([key, action]) => bindings.set(key, action));
}

export function watchKeys() {
  bindKeys({
    "?": () => document.getElementById("keys").showModal(),
    "/": () => document.querySelector("[data-slash]")?.focus(),
  });
  document.addEventListener("keydown", press);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-show-keys]")) bindings.get("?")();
  });
}

function isTyping(target) {
  return Boolean(target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true], dialog[open]"));
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const chord = pending + event.key;
  pending = event.key === "g" && !pending ? "g" : "";
  if (pending) setTimeout(() => (pending = ""), 1000);
  const button = document.querySelector(`[data-key~="${CSS.escape(chord)}"]`);
  const action = button ? () => button.click() : bindings.get(chord);
  if (!action || action(event) === false) return;
  event.preventDefault();
}
