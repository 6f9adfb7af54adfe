// A conversation on a page of its own: citations are links to the reader.
import { Citations } from "./citations.js";
import { Conversation } from "./conversation.js";
import { HoverCard } from "./hover_card.js";

const element = document.querySelector("[data-conversation]");
new HoverCard(new Citations(new Conversation(element)), element);
