// <article data-message="ID" data-status="streaming" data-stream="URL">
//   <p data-status-line></p> <div data-blocks><div data-block="0">…</div></div>
//   <script type="application/json" data-citations>[…]</script> <footer data-answer-foot>…</footer>
// One answer: reads its stream (chat/events.py), shows it as it comes, and keeps its citations.

const KINDS = ["status", "sources", "text", "citation", "verdict", "error", "done"];

export class Answer {
  element;
  citations = new Map();
  #source = null;

  constructor(element) {
    this.element = element;
    const stored = element.querySelector("[data-citations]");
    if (stored) JSON.parse(stored.textContent).forEach((citation) => this.citations.set(citation.id, citation));
    this.#decorate();
    if (this.isUnfinished) this.follow(element.dataset.stream);
  }

  get isUnfinished() {
    return ["pending", "streaming"].includes(this.element.dataset.status);
  }

  /** Citations in the order they stand in the answer, each place once. */
  get places() {
    return [...this.element.querySelectorAll("a[data-citation]")];
  }

  follow(url) {
    this.stop();
    this.#set("streaming");
    this.#source = new EventSource(url);
    KINDS.forEach((kind) => this.#source.addEventListener(kind, (event) => {
      if (event.data) this[`_${kind}`](JSON.parse(event.data)); // a lost connection is an "error" without data: it resumes
    }));
  }

  stop() {
    this.#source?.close();
    this.#source = null;
  }

  _status({ text }) {
    this.#line.textContent = text;
  }

  _sources({ sources }) {
    this.element.dataset.sources = sources.length;
  }

  _text({ block, html }) {
    const blocks = this.element.querySelector("[data-blocks]");
    let element = blocks.querySelector(`[data-block="${block}"]`);
    if (!element) {
      element = document.createElement("div");
      element.dataset.block = block;
      blocks.append(element);
    }
    element.innerHTML = html;
    this.#decorate(element);
    this.#tell("answergrown");
  }

  _citation({ citation }) {
    this.citations.set(citation.id, citation);
    this.#decorate();
  }

  _verdict({ citation }) {
    this.citations.set(citation.id, citation);
    this.places.filter((place) => place.dataset.citation === citation.id).forEach((place) => {
      Object.assign(place.dataset, { verdict: citation.verdict, page: citation.page, unit: citation.unit });
    });
    this.#decorate();
    this.#tell("citationchecked", citation);
  }

  _error({ message }) {
    this.#line.textContent = message;
  }

  _done({ status, html, citations, summary, error }) {
    this.stop();
    this.citations = new Map(citations.map((citation) => [citation.id, citation]));
    this.element.querySelector("[data-blocks]").innerHTML = html;
    this.element.querySelector("[data-summary]").textContent = summary.text;
    this.#line.textContent = error;
    this.#set(status);
    this.#decorate();
    this.#tell("answerdone", summary.text || error);
  }

  get #line() {
    return this.element.querySelector("[data-status-line]");
  }

  #set(status) {
    this.element.dataset.status = status;
    this.element.ariaBusy = String(this.isUnfinished);
  }

  /** Gives each superscript its colour and its name for screen readers. */
  #decorate(root = this.element) {
    const texts = document.getElementById("chat-texts").dataset;
    root.querySelectorAll("a[data-citation]").forEach((place) => {
      const citation = this.citations.get(place.dataset.citation);
      stickToWord(place.closest("sup"));
      place.classList.add("cite", `lit-${((Number(place.dataset.number) - 1) % 6) + 1}`);
      place.ariaLabel = [`${texts.citation} ${place.dataset.number}`, `${texts.page} ${place.dataset.page}`, citation?.verdict_text].filter(Boolean).join(", ");
    });
  }

  #tell(name, detail) {
    this.element.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }
}

/** No line ends between a claim and its number. */
function stickToWord(mark) {
  const before = mark?.previousSibling;
  if (before?.nodeType === Node.TEXT_NODE && /\s$/.test(before.data)) before.data = before.data.trimEnd();
}
