// The keys of the page, and what each says of itself in the list of shortcuts.

import { bind } from "./shell.js";

const COMPASS = { KeyQ: [-1, -1], KeyW: [-1, 0], KeyE: [-1, 1], KeyA: [0, -1], KeyD: [0, 1], KeyZ: [1, -1], KeyX: [1, 0], KeyC: [1, 1] };
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const NOWHERE = [0, 0];

/** `does`: roll, number(key), step(down, right), release, undo, redo, begin, place, flip, think, panel. */
export function bindKeys(does) {
  bind([
    { keys: [" ", "r"], says: "roll the die", group: "Play", run: does.roll },
    { keys: [..."0123456789"], shown: ["0", "…", "9"], says: "take the cube of this number (or choose it for the other's die)", group: "Play", run: (event) => does.number(event.key) },
    // By their place on the keyboard, whatever letters it has there.
    { keys: [..."qweadzxcy"], shown: ["Q", "W", "E", "A", "D", "Z", "X", "C"], says: "move it: keys lie around S as directions do", group: "Play", run: (event) => does.step(...(COMPASS[event.code] ?? NOWHERE)) },
    { keys: Object.keys(ARROWS), says: "move it sideways, up or down", group: "Play", run: (event) => does.step(...ARROWS[event.key]) },
    { keys: ["Escape"], says: "put it back", group: "Play", run: does.release },
    { keys: ["u", "Control+z"], says: "undo my move and the answer", group: "Play", run: does.undo },
    { keys: ["Control+Shift+z", "Control+y"], says: "redo", group: "Play", run: does.redo },
    { keys: ["n"], says: "new game", group: "Play", run: does.begin },
    { keys: ["p"], says: "place cubes, or be done with it", group: "Play", run: does.place },
    { keys: ["f"], says: "turn the board", group: "View", run: does.flip },
    { keys: ["t"], says: "think, watch, or stop", group: "View", run: does.think },
    { keys: [], shown: ["+"], says: "in the tree: show what is less visited", group: "View" },
    { keys: ["v"], says: "next panel", group: "View", run: does.panel },
  ]);
}
