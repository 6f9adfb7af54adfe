// <section data-conversation> <ol data-messages>…</ol> <form><textarea name="question">
// htmx asks and puts the exchanges in; this follows their answers, and keeps the end in sight.

import { Answer } from "./answer.js";

const NEAR_END = 180; // px from the end in which growing text keeps the end in sight

export class Conversation {
  element;
  answers = new Map();
  #form;
  #scroller;

  constructor(element) {
    this.element = element;
    this.#form = element.querySelector("form");
    this.#scroller = element.querySelector(".chat-scroll");
    this.#adopt();
    this.#field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) (event.preventDefault(), this.#form.requestSubmit());
      if (event.key === "Escape") this.#field.blur();
    });
    element.addEventListener("htmx:beforeRequest", (event) => this.#fold(event));
    element.addEventListener("htmx:afterSwap", () => this.#adopt());
    element.addEventListener("htmx:afterRequest", ({ detail }) => this.#asked(detail));
    element.addEventListener("answergrown", () => this.#keepEnd());
    element.addEventListener("answerdone", ({ detail }) => (element.querySelector("[data-spoken]").textContent = detail ?? ""));
    this.#toEnd();
  }

  get #field() {
    return this.#form.elements.question;
  }

  focus() {
    this.#field.focus();
  }

  /** Puts words into the field, ready to be asked about. */
  prefill(text) {
    this.#field.value = text;
    this.focus();
  }

  #adopt() {
    this.element.querySelectorAll("[data-message]").forEach((answer) => {
      const { message } = answer.dataset;
      if (this.answers.get(message)?.element !== answer) this.answers.set(message, new Answer(answer));
    });
  }

  #asked({ elt, successful }) {
    if (!successful || elt !== this.#form) return;
    this.#field.value = "";
    this.#toEnd();
    if (document.activeElement.matches("body, .ask *")) this.focus(); // unless its person went on to something else
  }

  /** The sources of an answer, asked for again, are put away. */
  #fold(event) {
    const { target, requestConfig } = event.detail;
    if (requestConfig.verb === "get" && target.querySelector(".sources")) (event.preventDefault(), target.replaceChildren());
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  #keepEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) this.#toEnd();
  }
}
