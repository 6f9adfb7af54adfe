// The library page: uploads, live progress, and the actions of each card.
import { watchProgress } from "./progress.js";
import { watchUploads } from "./uploads.js";
import { watchCards } from "./cards.js";
import { watchDrags } from "./drag.js";

const library = document.querySelector("[data-library]");
const progress = watchProgress(library);
watchUploads(library, progress);
watchCards(library, progress);
watchDrags(library);
