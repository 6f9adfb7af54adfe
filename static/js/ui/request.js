// Requests to our own server: with the CSRF token, and errors as sentences.

export function csrfToken() {
  return JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
}

/** A response that is `ok`. Throws an Error with what the server said, and its `status`. */
export async function request(url, { method = "GET", body, keepalive, signal } = {}) {
  const response = await fetch(url, { method, body, keepalive, signal, headers: { "X-CSRFToken": csrfToken() } });
  if (response.ok) return response;
  const said = reason(response.headers.get("Content-Type"), await response.text(), response);
  throw Object.assign(new Error(said), { status: response.status });
}

export const refusal = (xhr) => reason(xhr.getResponseHeader("Content-Type"), xhr.response, xhr);

/** Why the server said no, in its own words if it has some. */
function reason(type, text, { status, statusText }) {
  if (!status) return document.querySelector("[data-toasts]").dataset.offline;
  if (type?.includes("json")) return JSON.parse(text).error ?? JSON.parse(text).message ?? statusText;
  return type?.startsWith("text/plain") && text.length < 300 ? text : `${status} ${statusText}`;
}
