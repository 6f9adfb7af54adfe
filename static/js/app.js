// Behaviours of every page. Each module binds to the markup in its first comment.
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
