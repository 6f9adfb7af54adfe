// A conversation on a page of its own: citations are links to the reader.
import { followConversation } from "./conversation.js";

followConversation(document.querySelector("[data-conversation]"));
