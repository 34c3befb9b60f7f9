// The dialog to paste and copy positions and games. The server reads and writes the texts.
import { post } from "./api.js";
import { make } from "./dom.js";
import { copy, openDialog, readText } from "./shell.js";

const FORMATS = { episode: "a line of the 2048-Framework", record: "a tuplet record", "2048verse": "2048verse text" };

/** A game as text. */
export async function write({ name, start, steps }, format) {
  const pairs = steps.map(({ move, outcome }) => [move, outcome]);
  const request = { game: name, start: start.notation, steps: pairs, format, names: ["you"] };
  return (await post("/api/write", request)).text;
}

/** Open the dialog. `onRead(content)` shows what was pasted. */
export function openPaste(game, link, onRead) {
  const field = make("textarea", { id: "paste-text", spellcheck: "false", "aria-label": "A position or a game",
    placeholder: "2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,2,0 16" });
  const says = make("p", { class: "small", id: "paste-says", role: "status" });
  const show = make("button", { id: "paste-read", class: "primary", type: "submit" }, "Show it");
  const form = make("form", { class: "stack close", method: "dialog", onsubmit: async (event) => {
    event.preventDefault();
    if (!field.value.trim()) {
      says.textContent = "Paste a text first.";
      return;
    }
    show.disabled = true;
    says.textContent = "Reading…";
    try {
      const content = await readText(field.value, game.name);
      dialog.close();
      onRead(content);
    } catch (error) {
      says.textContent = error.message;
    } finally {
      show.disabled = false;
    }
  } },
  make("p", { class: "small muted" }, "Paste a position (tiles row by row, in almost any form) or a game: a line of "
    + "the 2048-Framework, a tuplet record, or a game of 2048verse."),
  field, make("div", { class: "row apart" }, says, show));
  const shown = { ...game.whole, steps: game.steps.slice(0, game.at).filter((step) => step.move) };
  const out = (id, text, run) => make("button", { id, type: "button", onclick: async () => {
    try {
      await run();
    } catch (error) {
      says.textContent = error.message;
    }
  } }, text);
  const dialog = openDialog("Paste or copy", form,
    make("h3", {}, "Copy"),
    make("div", { class: "row" },
      out("copy-link", "Link", () => copy(link(), "the link")),
      out("copy-position", "Position", () => copy(game.position.notation, "the position")),
      Object.entries(FORMATS).map(([format, name]) =>
        out(`copy-${format}`, `Game, as ${name}`, async () =>
          copy(await write(shown, format), `the game, as ${name}`)))),
    make("p", { class: "tiny muted" }, "A game is copied up to the position on the board."));
  field.focus();
  return dialog;
}
