// Behaviours every page has. Each module binds to the markup its first comment shows.
import { watchKeys } from "./ui/keys.js";
import { watchMenus } from "./ui/menus.js";
import { watchTheme } from "./ui/theme.js";
import { watchToasts } from "./ui/toasts.js";
import { watchForms } from "./ui/forms.js";

watchTheme();
watchMenus();
watchToasts();
watchForms();
watchKeys();
