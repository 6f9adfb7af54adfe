// <sup><a data-citation="ID" data-number="2" href="/documents/…">2</a></sup>
// Choose a citation by click or with j and k; y and n mark it right or wrong. A module that shows pages listens to
// `citationchosen` and calls preventDefault(), so that the link is not followed.

import { bindKeys } from "../ui/keys.js";

/** Returns `choose(place)`: false when a module shows the citation, so that the link is not followed. */
export function watchCitations(element, answers) {
  let chosen = null; // the link, until its block grows: then another stands there
  let judged = null; // its citation

  function choose(place) {
    const answer = answers.get(place.closest("[data-message]").dataset.message);
    const citation = answer?.citations.get(place.dataset.citation);
    if (!citation) return true;
    if (chosen) chosen.ariaCurrent = null;
    [chosen, judged] = [place, citation];
    place.ariaCurrent = true;
    return htmx.trigger(place, "citationchosen", { citation, answer });
  }

  function step(by) {
    const all = [...answers.values()];
    const places = (all.find((answer) => answer.element.contains(chosen)) ?? all.at(-1))?.places() ?? [];
    const at = places.indexOf(chosen);
    const next = places.at(at < 0 ? Math.min(by, 0) : (at + by) % places.length);
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
    if (next && choose(next)) next.click();
  }

  function judge(said) {
    if (!judged) return;
    judged.feedback = judged.feedback === said ? "" : said;
    const values = { feedback: judged.feedback };
    const url = `/chat/citations/${judged.id}/feedback/`;
    htmx.ajax("POST", url, { values, target: "[data-toasts]", swap: "beforeend" });
  }

  element.addEventListener("click", (event) => {
    const place = event.target.closest("a[data-citation]");
    if (place && !event.ctrlKey && !event.metaKey && !choose(place)) event.preventDefault();
  });
  bindKeys({ j: () => step(1), k: () => step(-1), y: () => judge("right"), n: () => judge("wrong") });
  return choose;
}
