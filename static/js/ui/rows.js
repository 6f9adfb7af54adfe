// <ul data-rows> <li data-row> <form data-row-delete method="post"> …
// Deletes a row without leaving the page; the server answers with a toast that can undo it.

import { postForHTML } from "./request.js";
import { toast } from "./toasts.js";

document.querySelector("[data-rows]").addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-row-delete]");
  if (!form) return;
  event.preventDefault();
  try {
    toast(await postForHTML(form.action, new FormData(form)));
    form.closest("[data-row]").remove();
  } catch (error) {
    toast(error.message);
  }
});
