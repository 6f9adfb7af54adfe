// A note on its own page.
import { keepNote } from "./note.js";

keepNote(document.querySelector("[data-note]"));
