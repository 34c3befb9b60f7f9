// The front page: three cards, and what the numbers of the other pages mean.
import { pageAddress, shell } from "./shell.js";

shell("home");
for (const link of document.querySelectorAll("a[data-page]")) {
  link.setAttribute("href", pageAddress(/** @type {HTMLElement} */ (link).dataset.page));
}
