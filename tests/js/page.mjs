// The least of a browser's page that our modules ask for: elements, events, storage. What a page really
// does is tested in Chromium (tests/browser/); here modules are tested for what they decide.

export class Element extends EventTarget {
  constructor(properties = {}) {
    super();
    Object.assign(this, { className: "", style: {}, dataset: {}, children: [], found: {} }, properties);
  }

  append(...children) {
    children.forEach((child) => (child.remove(), (child.parent = this)));
    this.children.push(...children);
  }

  appendChild(child) {
    this.append(child);
    return child;
  }

  /** As in a browser, what has the focus in a part that is taken out loses it. */
  remove() {
    this.parent?.children.splice(this.parent.children.indexOf(this), 1);
    this.parent = null;
    if (this.contains(document.activeElement)) document.activeElement = document.body;
  }

  contains(element) {
    return element === this || this.children.some((child) => child.contains(element));
  }

  cloneNode() {
    return new Element({ innerHTML: this.innerHTML });
  }

  isEqualNode({ innerHTML }) {
    return innerHTML === this.innerHTML;
  }

  /** What a test put into `found` under the selector, else a child by its class or its block number. */
  querySelector(selector) {
    if (selector in this.found) return this.found[selector];
    const name = selector.match(/^:scope > \.(\w+)$/)?.[1];
    const block = selector.match(/^\[data-block="(\d+)"\]$/)?.[1];
    const isIt = (child) => (name ? child.className === name : block && String(child.dataset.block) === block);
    return this.children.find(isIt) ?? null;
  }

  querySelectorAll(selector) {
    return this.found[selector] ?? [];
  }

  focus() {
    document.activeElement = this;
    document.dispatchEvent(Object.defineProperty(new Event("focusin"), "target", { value: this }));
  }

  closest(selector) {
    return selector === `.${this.className}` ? this : (this.parent?.closest(selector) ?? null);
  }
}

/** Makes a new page the global one. Returns its local storage, a Map. */
export function openPage({ toasts = {} } = {}) {
  const kept = new Map();
  const document = new Element({
    createElement: () => new Element(),
    getElementById: () => new Element({ hidden: true }),
    body: { getAttribute: () => '{"X-CSRFToken": "token"}' },
    found: { "[data-toasts]": { dataset: toasts } },
  });
  Object.assign(globalThis, {
    document,
    localStorage: {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => kept.set(key, String(value)),
      removeItem: (key) => kept.delete(key),
    },
    matchMedia: () => ({ matches: false }),
    IntersectionObserver: class { observe() {} unobserve() {} },
    htmx: { trigger: () => true, process() {} },
    addEventListener() {},
  });
  return kept;
}

// Browsers have it since 2024, Node since 21.
Map.groupBy ??= (items, keyOf) => {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
};
