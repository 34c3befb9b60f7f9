// The keys of the page, with their texts in the list of shortcuts.
import { bind } from "./shell.js";

const COMPASS = {
  KeyQ: [-1, -1], KeyW: [-1, 0], KeyE: [-1, 1], KeyA: [0, -1],
  KeyD: [0, 1], KeyZ: [1, -1], KeyX: [1, 0], KeyC: [1, 1],
};
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const NOWHERE = [0, 0];

/** `does`: roll, number(key), step(down, right), release, undo, redo, begin, place, flip, think, panel. */
export function bindKeys(does) {
  bind([
    { keys: [" ", "r"], says: "roll the die", group: "Play", run: does.roll },
    { keys: [..."0123456789"], shown: ["0", "…", "9"], group: "Play",
      says: "select this cube (or choose this number for the other side)", run: (event) => does.number(event.key) },
    // By the place of the key, whatever the layout of the keyboard.
    { keys: [..."qweadzxcy"], shown: [..."QWEADZXC"], says: "move it in the key's direction, seen from S",
      group: "Play", run: (event) => does.step(...(COMPASS[event.code] ?? NOWHERE)) },
    { keys: Object.keys(ARROWS), says: "move it sideways, up or down", group: "Play",
      run: (event) => does.step(...ARROWS[event.key]) },
    { keys: ["Escape"], says: "deselect it", group: "Play", run: does.release },
    { keys: ["u", "Control+z"], says: "undo my move and the answer", group: "Play", run: does.undo },
    { keys: ["Control+Shift+z", "Control+y"], says: "redo", group: "Play", run: does.redo },
    { keys: ["n"], says: "new game", group: "Play", run: does.begin },
    { keys: ["p"], says: "place cubes, or finish placing", group: "Play", run: does.place },
    { keys: ["f"], says: "turn the board", group: "View", run: does.flip },
    { keys: ["t"], says: "start or stop the search, or watching", group: "View", run: does.think },
    { keys: [], shown: ["+"], says: "in the tree: show nodes with fewer visits", group: "View" },
    { keys: ["v"], says: "next panel", group: "View", run: does.panel },
  ]);
}
