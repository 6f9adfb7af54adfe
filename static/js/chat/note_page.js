// A note on a page of its own.
import { keepNote } from "./note.js";

keepNote(document.querySelector("[data-note]"));
