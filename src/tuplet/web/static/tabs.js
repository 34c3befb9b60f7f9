// Tabs and their panels. The tab of a panel "x" has the id tab-x.
import { by } from "./dom.js";

/** Let the tabs of a list choose one of `panels` {name: element}; the arrow keys lead to the next. `onSelect(name)` is
 * called when a person selects one. Returns `show(name)`. */
export function tabs(list, panels, onSelect) {
  const names = Object.keys(panels);
  let current = names[0];
  for (const name of names) by(`tab-${name}`).addEventListener("click", () => onSelect(name));
  list.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    onSelect(names[(names.indexOf(current) + way + names.length) % names.length]);
    by(`tab-${current}`).focus();
  });
  return (shown) => {
    current = shown;
    for (const name of names) {
      panels[name].hidden = name !== shown;
      by(`tab-${name}`).setAttribute("aria-selected", String(name === shown));
      by(`tab-${name}`).tabIndex = name === shown ? 0 : -1;
    }
  };
}
