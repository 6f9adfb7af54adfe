// A conversation on its own page: citations are links to the reader.
import { followConversation } from "./conversation.js";

followConversation(document.querySelector("[data-conversation]"));
