// A note on a page of its own.
import { Note } from "./note.js";

new Note(document.querySelector("[data-note]"));
