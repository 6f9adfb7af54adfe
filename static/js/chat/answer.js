// <article data-message="ID" data-status="streaming" data-stream="URL">
//   <div data-blocks><div data-block="0">…</div></div> <span data-line>Searching…</span>
//   <script type="application/json" data-citations>[…]</script>
// One answer: shows its event stream (chat/answers/events.py) as it arrives.

/** Returns its citations by id, and `places()`: the links to them, in order. */
export function followAnswer(element) {
  const citations = new Map();
  const blocks = element.querySelector("[data-blocks]");
  const places = () => [...element.querySelectorAll("a[data-citation]")];
  const keep = (changed) => changed.forEach((citation) => citations.set(citation.id, citation));
  const say = (text) => (element.querySelector("[data-line]").textContent = text);

  function fill(part, html) {
    const at = places().indexOf(document.activeElement);
    part.innerHTML = html;
    places()[at]?.focus();
  }

  const shows = {
    status({ text, added }) {
      say(text);
      if (added) element.parentElement.querySelector("[data-added] span").textContent = added;
    },
    text({ block, html }) {
      const made = document.createElement("div");
      made.dataset.block = block;
      fill(blocks.querySelector(`[data-block="${block}"]`) ?? blocks.appendChild(made), html);
      htmx.trigger(element, "answergrown");
    },
    citation: ({ citation }) => keep([citation]),
    verdict({ citation }) {
      keep([citation]);
      places().forEach((place) => place.dataset.citation === citation.id && (place.dataset.verdict = citation.verdict));
    },
    error: ({ message }) => say(message),
    done({ status, html, citations: all, summary, error }) {
      keep(all);
      fill(blocks, html);
      say(error || summary.text);
      element.dataset.status = status;
      element.ariaBusy = false;
      htmx.trigger(element, "answerdone", { said: summary.text || error });
    },
  };

  function follow() {
    const source = new EventSource(element.dataset.stream);
    Object.entries(shows).forEach(([kind, show]) => source.addEventListener(kind, ({ data }) => {
      if (data) show(JSON.parse(data)); // a lost connection, which resumes, has none
      if (kind === "done") source.close();
    }));
  }

  keep(JSON.parse(element.querySelector("[data-citations]").textContent));
  if (["pending", "streaming"].includes(element.dataset.status)) follow();
  return { element, citations, places };
}
