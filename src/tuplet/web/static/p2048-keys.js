// The keys of the page of 2048, and what they do.

const MOVES = { up: ["ArrowUp", "w"], left: ["ArrowLeft", "a"], down: ["ArrowDown", "s"], right: ["ArrowRight", "d"] };
const ALL = { says: "move; takes over when the agent plays", shown: ["↑", "←", "↓", "→", "W", "A", "S", "D"] };

/** Bindings for `bind`, from what the page can do. */
export const keys = (page) => [
  ...Object.entries(MOVES).map(([move, pair], i) => ({
    keys: pair, run: (event) => page.play(move, event.repeat), group: "Play", ...(i ? {} : ALL) })),
  ...of("Play", [
    [["u", "Control+z"], "undo", () => page.travel(-1)],
    [["Shift+u", "Control+Shift+z", "Control+y"], "redo", () => page.travel(1)],
    [["n"], "new game", page.newGame],
  ]),
  ...of("The agent", [
    [[" "], "the agent plays, or pauses", () => page.agentPlays()],
    [["g"], "one move by the agent", page.oneMove],
    [["+", "="], "faster", () => page.faster(10)],
    [["-"], "slower", () => page.faster(-10)],
    [["t"], "its analysis: shown, after my move, hidden", page.nextShow],
  ]),
  ...of("Review", [
    [["r"], "review the game", () => page.look("review", true)],
    [["]"], "next mistake", () => page.review.mistake(1)],
    [["["], "previous mistake", () => page.review.mistake(-1)],
    [["Home"], "first position", () => page.goTo(0)],
    [["End"], "last position", () => page.goTo(page.end())],
  ]),
  ...of("Page", [
    [["e"], "edit the board", page.toggleEdit],
    [["p"], "paste or copy a position or a game", page.paste],
    [["Control+v"], "paste at once", () => false], // the browser's own
    [["l"], "copy the link", page.copyLink],
    [["c"], "copy the position", page.copyPosition],
    [["Escape"], "leave editing, or a tuple's placements", page.leave],
  ]),
];

function of(group, bindings) {
  return bindings.map(([pressed, says, run]) => ({ keys: pressed, says, run, group }));
}
