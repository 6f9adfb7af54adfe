// <section data-conversation> <ol data-messages>…</ol> <form class="ask"><textarea name="question">
// htmx sends questions and inserts exchanges; this module follows their answers and keeps the end visible.

import { followAnswer } from "./answer.js";
import { watchCitations } from "./citations.js";
import { watchHover } from "./hover_card.js";

const NEAR_END = 180; // px from the end in which growing text keeps the end in sight
const ABOVE = 12; // px over the last question

/**
 * Returns `choose(place)`, which chooses a citation; `write(text, send)`, which puts the words into the field; and
 * `about(region)`, which lets the next question be about a part of a page, or, without one, of none.
 */
export function followConversation(element) {
  const answers = new Map();
  const form = element.querySelector(".ask");
  const field = form.elements.question;
  const scroller = element.querySelector(".chat-scroll");
  const messages = element.querySelector("[data-messages]");
  const tabs = new BroadcastChannel("questions");

  /** To the end; but the last question stays in sight, unless a long one would hide its answer's first line. */
  function toEnd() {
    const last = messages.lastElementChild;
    if (!last) return;
    const top = (element) => element.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    const begin = Math.max(top(last) - ABOVE, top(last.querySelector("[data-message]")) - scroller.clientHeight / 2);
    scroller.scrollTop += Math.min(begin, scroller.scrollHeight);
  }

  function write(text, send) {
    if (text) field.value = text;
    field.focus();
    if (send) form.requestSubmit();
  }

  function about(region) {
    const chip = form.querySelector("[data-region]");
    if (!chip) return;
    const said = chip.querySelector("output");
    chip.hidden = !region;
    form.elements.region.value = region ? JSON.stringify(region) : "";
    said.textContent = region ? `${said.dataset.words} ${region.page}` : "";
    chip.querySelector("button").onclick = () => (about(), field.focus());
  }

  function adopt() {
    element.querySelectorAll("[data-message]").forEach((answer) => {
      const { message } = answer.dataset;
      if (answers.get(message)?.element !== answer) answers.set(message, followAnswer(answer));
    });
  }

  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) (event.preventDefault(), form.requestSubmit());
    if (event.key === "Escape") scroller.focus();
  });
  element.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target, requestConfig } = event.detail;
    const again = requestConfig.verb === "get" && target.matches(":has(> .sources)");
    if (again) target.replaceChildren(); // the sources of an answer are put away
    if (again || (elt === messages && (document.hidden || !form.elements.conversation.value))) event.preventDefault();
  });
  element.addEventListener("htmx:afterSwap", adopt);
  element.addEventListener("htmx:afterRequest", (event) => {
    const { elt, successful } = event.detail;
    if (elt === messages) return event.stopPropagation(); // a lost connection is tried again in silence
    tabs.postMessage("");
    if (successful && (elt === form || elt.closest(".suggestions"))) about();
    if (!successful || elt !== form) return;
    field.value = "";
    toEnd();
    if (document.activeElement.matches("body, .ask *")) field.focus(); // unless another field is in use
  });
  element.addEventListener("answergrown", () => {
    const { scrollHeight, scrollTop, clientHeight } = scroller;
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) toEnd();
  });
  const spoken = element.querySelector("[data-spoken]");
  element.addEventListener("answerdone", ({ detail }) => (spoken.textContent = detail.said));
  tabs.onmessage = () => htmx.trigger(messages, "asked");
  adopt();
  toEnd();
  watchHover(element);
  return { choose: watchCitations(element, answers), write, about };
}
