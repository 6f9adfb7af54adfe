// <section data-conversation> <ol data-messages>…</ol> <form><textarea name="question">
// A conversation. htmx asks and puts the exchanges in; this follows their answers, and keeps the end in sight.

import { copyText } from "../ui/forms.js";
import { toast } from "../ui/toasts.js";
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
    this.#field.addEventListener("input", () => this.#grow());
    element.addEventListener("click", (event) => this.#copy(event));
    element.addEventListener("htmx:beforeRequest", (event) => this.#fold(event));
    element.addEventListener("htmx:load", () => this.#adopt());
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
    this.#grow();
    this.focus();
  }

  #adopt() {
    this.element.querySelectorAll("[data-message]").forEach((answer) => {
      const { message } = answer.dataset;
      if (this.answers.get(message)?.element !== answer) this.answers.set(message, new Answer(answer));
    });
  }

  #asked({ elt, successful, xhr }) {
    if (!successful) return toast(reason(xhr));
    if (elt === this.#form) (this.prefill(""), this.#toEnd());
  }

  /** The sources of an answer, asked for again, are put away. */
  #fold(event) {
    const { target, requestConfig } = event.detail;
    if (requestConfig.verb === "get" && target.querySelector(".sources")) (event.preventDefault(), target.replaceChildren());
  }

  async #copy({ target }) {
    const { copyFrom, copied } = target.closest("[data-copy-from]")?.dataset ?? {};
    if (copyFrom) copyText(await (await fetch(copyFrom)).text(), copied);
  }

  #grow() {
    this.#field.style.height = "auto";
    this.#field.style.height = `${Math.min(this.#field.scrollHeight + 2, 220)}px`;
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  #keepEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) this.#toEnd();
  }
}

function reason({ response, status, statusText }) {
  try {
    return JSON.parse(response).error;
  } catch {
    return `${status} ${statusText}`;
  }
}
