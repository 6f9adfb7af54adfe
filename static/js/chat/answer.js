// <article data-message="ID" data-status="streaming" data-stream="URL">
//   <div data-blocks><div data-block="0">…</div></div> <span data-line>Searching…</span>
//   <script type="application/json" data-citations>[…]</script>
// One answer: reads its stream (chat/events.py), shows it as it comes, and keeps its citations.

const KINDS = ["status", "text", "citation", "verdict", "error", "done"];

export class Answer {
  element;
  citations = new Map();

  constructor(element) {
    this.element = element;
    this.#keep(JSON.parse(element.querySelector("[data-citations]").textContent));
    if (["pending", "streaming"].includes(element.dataset.status)) this.#follow();
  }

  /** Citations in the order they stand in the answer, each place once. */
  get places() {
    return [...this.element.querySelectorAll("a[data-citation]")];
  }

  #follow() {
    const source = new EventSource(this.element.dataset.stream);
    this.element.ariaBusy = true;
    KINDS.forEach((kind) => source.addEventListener(kind, ({ data }) => {
      if (data) this[`_${kind}`](JSON.parse(data)); // a lost connection is an "error" without data: it resumes
      if (kind === "done") source.close();
    }));
  }

  _status({ text }) {
    this.#say(text);
  }

  _text({ block, html }) {
    this.#block(block).innerHTML = html;
    this.#tell("answergrown");
  }

  _citation({ citation }) {
    this.#keep([citation]);
  }

  _verdict({ citation }) {
    this.#keep([citation]);
    this.places.forEach((place) => place.dataset.citation === citation.id && (place.dataset.verdict = citation.verdict));
  }

  _error({ message }) {
    this.#say(message);
  }

  _done({ status, html, citations, summary, error }) {
    this.#keep(citations);
    this.element.querySelector("[data-blocks]").innerHTML = html;
    this.#say(error || summary.text);
    this.element.dataset.status = status;
    this.element.ariaBusy = false;
    this.#tell("answerdone", summary.text || error);
  }

  #keep(citations) {
    citations.forEach((citation) => this.citations.set(citation.id, citation));
  }

  #block(number) {
    const blocks = this.element.querySelector("[data-blocks]");
    const made = document.createElement("div");
    made.dataset.block = number;
    return blocks.querySelector(`[data-block="${number}"]`) ?? blocks.appendChild(made);
  }

  #say(text) {
    this.element.querySelector("[data-line]").textContent = text;
  }

  #tell(name, detail) {
    this.element.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }
}
