// <section data-conversation data-ask-url="…" data-document="ID">
//   <ol data-messages>…</ol> <form data-ask><textarea name="question"> · <template id="answer-shell">
// A conversation: asks, appends answers, and offers what can be done with them.

import { request } from "../ui/request.js";
import { copyText } from "../ui/forms.js";
import { toast } from "../ui/toasts.js";
import { Answer } from "./answer.js";

const NEAR_END = 120; // px from the end in which growing text keeps the end in sight

export class Conversation {
  element;
  answers = new Map();
  #form;

  constructor(element) {
    this.element = element;
    this.#form = element.querySelector("[data-ask]");
    element.querySelectorAll("[data-message]").forEach((answer) => this.#adopt(answer));
    this.#form.addEventListener("submit", (event) => (event.preventDefault(), this.ask(this.#field.value)));
    this.#field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) (event.preventDefault(), this.#form.requestSubmit());
      if (event.key === "Escape") this.#field.blur();
    });
    this.#field.addEventListener("input", () => this.#grow());
    element.addEventListener("click", (event) => this.#act(event));
    element.addEventListener("answergrown", () => this.#keepEnd());
    element.addEventListener("answerdone", ({ detail }) => (element.querySelector("[data-spoken]").textContent = detail ?? ""));
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  get #field() {
    return this.#form.elements.question;
  }

  get #scroller() {
    return this.element.querySelector("[data-messages]").parentElement;
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

  async ask(question) {
    if (!question.trim()) return this.focus();
    const body = new FormData(this.#form);
    body.set("question", question);
    const button = this.#form.querySelector("[type=submit]");
    button.disabled = true;
    try {
      const asked = await (await request(this.element.dataset.askUrl, { method: "POST", body })).json();
      this.#began(asked, question);
    } catch (error) {
      toast(error.message);
    } finally {
      button.disabled = false;
    }
  }

  #began({ conversation, answer, stream }, question) {
    this.element.querySelector("[data-suggestions]")?.classList.add("asked");
    this.element.dataset.askUrl = this.element.dataset.askAgainUrl.replace(/0{8}-0{4}-0{4}-0{4}-0{12}/, conversation);
    this.element.dataset.conversation = conversation;
    const shell = document.getElementById("answer-shell").content.cloneNode(true);
    shell.querySelector("[data-question]").textContent = question;
    const element = shell.querySelector("[data-message]");
    Object.assign(element.dataset, { message: answer, stream, status: "pending" });
    this.element.querySelector("[data-messages]").append(shell);
    this.#adopt(element);
    this.#field.value = "";
    this.#grow();
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  #adopt(element) {
    this.answers.set(element.dataset.message, new Answer(element));
  }

  #act(event) {
    const suggestion = event.target.closest("[data-suggestion]");
    if (suggestion) return this.ask(suggestion.textContent.trim());
    const button = event.target.closest("[data-answer-do]");
    const element = button?.closest("[data-message]");
    if (element) this[`_${button.dataset.answerDo}`](this.answers.get(element.dataset.message), button);
  }

  _stop(answer) {
    this.#post(answer, "cancel");
  }

  async _retry(answer) {
    const begun = await this.#post(answer, "retry");
    if (!begun) return;
    answer.citations.clear();
    answer.element.querySelector("[data-blocks]").replaceChildren();
    answer.element.querySelector("[data-summary]").textContent = "";
    this.#followAgain(answer, begun);
  }

  async _continue(answer) {
    const begun = await this.#post(answer, "continue");
    if (begun) this.#followAgain(answer, begun);
  }

  async _sources(answer, button) {
    const list = answer.element.querySelector("[data-sources-list]");
    const open = list.hidden;
    if (open) list.innerHTML = await (await request(this.#url(answer, "sources"))).text();
    list.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
  }

  _copy(answer) {
    copyText(asText(answer), document.getElementById("chat-texts").dataset.copied);
  }

  #followAgain(answer, begun) {
    answer.element.querySelector("[data-status-line]").textContent = "";
    answer.follow(`${begun.stream}${begun.after ? `?after=${begun.after}` : ""}`);
  }

  async #post(answer, verb) {
    try {
      return await (await request(this.#url(answer, verb), { method: "POST" })).json();
    } catch (error) {
      toast(error.message);
      return null;
    }
  }

  #url(answer, verb) {
    const id = answer.element.dataset.message;
    return verb === "sources" ? `/conversations/sources/${id}/` : `/chat/messages/${id}/${verb}/`;
  }

  #grow() {
    this.#field.style.height = "auto";
    this.#field.style.height = `${Math.min(this.#field.scrollHeight + 2, 220)}px`;
  }

  #keepEnd() {
    const scroller = this.#scroller;
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (left < NEAR_END + 60) scroller.scrollTop = scroller.scrollHeight;
  }
}

/** The answer as plain text with [1] marks and its references, for pasting elsewhere. */
function asText(answer) {
  const copy = answer.element.querySelector("[data-blocks]").cloneNode(true);
  copy.querySelectorAll("sup").forEach((mark) => (mark.textContent = ` [${mark.textContent}]`));
  const blocks = [...copy.querySelectorAll("[data-block]")].map((block) => block.textContent.trim());
  const seen = new Map([...answer.citations.values()].map((citation) => [citation.number, citation]));
  const references = [...seen].sort(([a], [b]) => a - b).map(([number, { title, page, quote, href }]) =>
    `[${number}] ${title}, p. ${page}${quote ? `: “${quote}”` : ""}${href ? ` ${new URL(href, location.href)}` : ""}`);
  return [...blocks, "", ...references].join("\n");
}
