// <form data-find> <input name="words"> <output> <button data-find-step="back">
// pdf.js's find controller under our own bar.

export class Find {
  #viewer;
  #bar = document.querySelector("[data-find]");
  #waiting = 0;

  constructor(viewer) {
    this.#viewer = viewer;
    const bar = this.#bar;
    bar.addEventListener("submit", (event) => (event.preventDefault(), this.#look("again", false)));
    bar.addEventListener("input", () => {
      clearTimeout(this.#waiting);
      this.#waiting = setTimeout(() => this.#look(""), 150);
    });
    bar.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
      if (event.key === "Enter" && event.shiftKey) (event.preventDefault(), this.#look("again", true));
    });
    bar.querySelector("[data-find-step=back]").addEventListener("click", () => this.#look("again", true));
    bar.querySelector("[data-find-close]").addEventListener("click", () => this.close());
    viewer.on("updatefindmatchescount", ({ matchesCount }) => this.#count(matchesCount));
    viewer.on("updatefindcontrolstate", ({ state, matchesCount }) => this.#count(matchesCount, state === 1));
  }

  open() {
    this.#bar.hidden = false;
    this.#bar.elements.words.select();
    this.#bar.elements.words.focus();
  }

  close() {
    this.#bar.hidden = true;
    this.#viewer.eventBus.dispatch("findbarclose", { source: this });
    this.#viewer.scroller.focus();
  }

  #look(type, findPrevious = false) {
    const query = this.#bar.elements.words.value;
    this.#viewer.eventBus.dispatch("find", {
      source: this, type, query, findPrevious, caseSensitive: false, entireWord: false, highlightAll: true, matchDiacritics: false,
    });
    if (!query) this.#bar.querySelector("output").textContent = "";
  }

  #count({ current, total }, missing = false) {
    const texts = document.getElementById("reader-texts").dataset;
    const words = this.#bar.elements.words.value;
    const said = missing ? texts.nothing : total ? `${current} ${texts.found} ${total}` : "";
    this.#bar.querySelector("output").textContent = words ? said : "";
  }
}
