// What is done with a card goes by htmx, and comes back as a card (library/_card.html).
import { watchAsking } from "./ask.js";
import { watchDrags } from "./drag.js";
import { watchProgress } from "./progress.js";
import { watchSelecting } from "./select.js";
import { watchUploads } from "./uploads.js";

const library = document.querySelector("[data-library]");
watchProgress(library);
watchUploads(library);
watchAsking();
watchDrags(library);
watchSelecting(library);
