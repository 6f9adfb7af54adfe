// A conversation on a page of its own: citations are links to the reader.
import { Citations } from "./citations.js";
import { Conversation } from "./conversation.js";
import { HoverCard } from "./hover_card.js";

const element = document.querySelector("[data-conversation]");
const conversation = new Conversation(element);
new HoverCard(new Citations(conversation), element, async (citation) => {
  const image = new Image();
  image.alt = "";
  image.src = `/api/citations/${citation.id}/image/?crop=1`;
  await image.decode();
  return image;
});
