// Requests to our server, with the CSRF token; errors have a message for users.

export function csrfToken() {
  return JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
}

/** Returns a response that is `ok`. Throws an Error with the server's message and `status`. */
export async function request(url, { method = "GET", body, keepalive, signal } = {}) {
  const response = await fetch(url, { method, body, keepalive, signal, headers: { "X-CSRFToken": csrfToken() } });
  if (response.ok) return response;
  const said = reason(response.headers.get("Content-Type"), await response.text(), response);
  throw Object.assign(new Error(said), { status: response.status });
}

export const refusal = (xhr) => reason(xhr.getResponseHeader("Content-Type"), xhr.response, xhr);

/** Returns the server's message for an error, or a general one. */
function reason(type, text, { status, statusText }) {
  if (!status) return document.querySelector("[data-toasts]").dataset.offline;
  if (type?.includes("json")) return JSON.parse(text).error ?? JSON.parse(text).message ?? statusText;
  return type?.startsWith("text/plain") && text.length < 300 ? text : `${status} ${statusText}`;
}
