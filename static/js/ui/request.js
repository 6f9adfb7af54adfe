// Requests to our own server: with the CSRF token, and errors as sentences.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function csrfToken() {
  return JSON.parse(document.body.getAttribute("hx-headers") || "{}")["X-CSRFToken"] ?? "";
}

/** A response that is `ok`. Throws Refused with what the server said. */
export async function request(url, { method = "GET", body, signal, headers = {} } = {}) {
  const all = { "X-Requested-With": "fetch", ...headers };
  if (method !== "GET") all["X-CSRFToken"] = csrfToken();
  const response = await fetch(url, { method, body, signal, headers: all, credentials: "same-origin" });
  if (!response.ok) throw new Refused(response.status, await reason(response));
  return response;
}

export const getJSON = async (url, options) => (await request(url, options)).json();

/** The first element of the HTML a POST answers. */
export async function postForHTML(url, body) {
  const html = await (await request(url, { method: "POST", body })).text();
  return firstElement(html);
}

export function firstElement(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content.firstElementChild;
}

async function reason(response) {
  const type = response.headers.get("Content-Type") ?? "";
  const text = await response.text();
  if (type.includes("json")) {
    const data = JSON.parse(text);
    return data.error ?? data.message ?? response.statusText;
  }
  return type.startsWith("text/plain") && text.length < 300 ? text : `${response.status} ${response.statusText}`;
}
