// Remembers, per document, the page, the place on it and the zoom; and gives them back next time.

const KEPT = 200;

export class Position {
  #key;
  #timer = 0;

  constructor(viewer) {
    this.#key = `place:${viewer.element.dataset.document}`;
    viewer.on("updateviewarea", ({ location }) => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#keep(location), 300);
    });
  }

  get last() {
    try {
      return JSON.parse(localStorage.getItem(this.#key));
    } catch {
      return null;
    }
  }

  #keep({ pageNumber, scale, top, left, rotation }) {
    try {
      localStorage.setItem(this.#key, JSON.stringify({ page: pageNumber, scale, top, left, rotation }));
      forgetOldest();
    } catch {
      // A full or forbidden storage only means that the place is not remembered.
    }
  }
}

function forgetOldest() {
  const places = Object.keys(localStorage).filter((key) => key.startsWith("place:"));
  places.slice(0, Math.max(0, places.length - KEPT)).forEach((key) => localStorage.removeItem(key));
}
