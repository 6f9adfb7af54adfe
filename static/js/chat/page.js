// A conversation on a page of its own: citations are links to the reader.
import { Citations } from "./citations.js";
import { Conversation } from "./conversation.js";
import { watchHover } from "./hover_card.js";

const conversation = new Conversation(document.querySelector("[data-conversation]"));
new Citations(conversation);
watchHover(conversation.element);
