// Positions and games in and out: what is pasted is read by the server, what is copied is written by it.
import { post } from "./api.js";
import { make } from "./dom.js";
import { copy, openDialog } from "./shell.js";

export const FORMATS = { episode: "the Framework's line", record: "tuplet's record", "2048verse": "2048verse" };

/** What a text is: a position or a game. */
export const read = (text, game) => post("/api/read", { text, game });

/** A game as text. */
export async function write({ game, start, steps }, format) {
  const made = steps.map(({ move, outcome }) => [move, outcome]);
  const { text } = await post("/api/write", { game, start: start.position.notation, steps: made, format, names: ["you"] });
  return text;
}

/** The dialog. `onRead(found)` shows what was pasted. */
export function openPaste(session, link, onRead) {
  const field = make("textarea", { id: "paste-text", spellcheck: "false", "aria-label": "A position or a game",
    placeholder: "2048 2,0,0,4/0,8,0,0/0,0,0,0/0,0,2,0 16" });
  const says = make("p", { class: "small", id: "paste-says", role: "status" });
  const show = make("button", { id: "paste-read", class: "primary", type: "submit" }, "Show it");
  const form = make("form", { class: "stack close", method: "dialog", onsubmit: async (event) => {
    event.preventDefault();
    if (!field.value.trim()) { says.textContent = "There is nothing to read yet."; return; }
    show.disabled = true;
    says.textContent = "Reading…";
    try {
      const found = await read(field.value, session.game);
      dialog.close();
      onRead(found);
    } catch (error) {
      says.textContent = error.message;
    } finally {
      show.disabled = false;
    }
  } },
  make("p", { class: "small muted" }, "Paste a position (tiles row by row, in almost any form) or a game: a line of the 2048-Framework, a record of tuplet, or 2048verse's text."),
  field, make("div", { class: "row apart" }, says, show));
  const whole = session.whole;
  const made = { ...whole, steps: whole.steps.slice(0, whole.at).filter((step) => step.move) };
  const out = (id, text, run) => make("button", { id, type: "button", onclick: async () => {
    try { await run(); } catch (error) { says.textContent = error.message; }
  } }, text);
  const dialog = openDialog("Paste or copy", form,
    make("h3", {}, "Copy"),
    make("div", { class: "row" },
      out("copy-link", "Link", () => copy(link(), "the link")),
      out("copy-position", "Position", () => copy(session.position.notation, "the position")),
      Object.entries(FORMATS).map(([format, name]) => out(`copy-${format}`, `Game, as ${name}`, async () => copy(await write(made, format), `the game, as ${name}`)))),
    make("p", { class: "tiny muted" }, "A game goes up to the position that is seen."));
  field.focus();
  return dialog;
}
