// What the three pages of lessons share: the row of links between them, a view that is a link, "present" and "predict
// first".
//
//   const view = lesson("steps", { state: () => ({ game, seed }), open: (state) => { … } });
//
// `state()` gives all that the page shows, as an object of plain values; `open(state)` shows it. It is called with what
// the address says (all are texts) soon after `lesson`, and again when the back button is used. After each change the
// page calls
//
//   view.changed();      the address follows
//   view.changed(true);  and the back button leads to what was before: another position, another run
//
// An element with data-control="slider" and data-label="Slider over the simulations" can be hidden by the author of a
// link (hide=slider,…), also if it is drawn later. `view.hides("slider")` is for the keys that do the same.
// In the address are also present=1 (large type) and predict=1 (see `predict`).
import { onMove, push, read, replace, settle, write } from "./address.js";
import { by, icon, make } from "./dom.js";
import { bind, copy, openDialog, pageAddress, shell } from "./shell.js";

const PAGES = { learn: "Live", steps: "How it learns", search: "How it searches" };
const root = document.documentElement;
const hiding = new CSSStyleSheet();
let shown = { hide: [], present: false, predict: false };
let redraw = () => {};
let presentButton, predictButton;

/**
 * Build the top of a page of lessons: "learn", "steps" or "search".
 * @param {string} page
 * @param {{state?: () => object, open?: (state: any) => void}} options
 */
export function lesson(page, { state = () => ({}), open = () => {} } = {}) {
  shell("learn");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, hiding];
  const whole = (more = {}) => ({ ...state(), ...inAddress({ ...shown, ...more }) });
  const changed = (entry = false) => (entry ? push : replace)(whole());
  const links = make("nav", { class: "row", "aria-label": "Lessons" }, Object.entries(PAGES).map(([name, text]) =>
    make("a", { href: pageAddress(name), "aria-current": name === page && "page" }, text)));
  const set = (change) => {
    shown = { ...shown, ...change };
    apply();
    changed();
  };
  const present = () => set({ present: !shown.present });
  predictButton = make("button", { class: "small", "data-control": "predict", "data-label": "Predict first",
    title: "Answers stay hidden until you have chosen", onclick: () => {
      set({ predict: !shown.predict });
      redraw();
    } }, "Predict first");
  presentButton = make("button", { class: "small", "data-control": "present", "data-label": "Present",
    title: "Large type (P)", onclick: present }, "Present");
  by("main").prepend(make("div", { class: "lesson-bar row apart" }, links, make("div", { class: "row" },
    predictButton, presentButton,
    make("button", { class: "small", "data-control": "link", "data-label": "Copy link to this lesson",
      onclick: () => copyLink(whole) }, icon("link"), "Copy link"))));
  bind([{ keys: ["p"], says: "large type, to present", run: present, group: "Page" },
    { keys: ["Escape"], run: () => (shown.present ? present() : false) }]);
  const start = () => {
    const { hide = "", present: large, predict: asks, ...own } = read();
    shown = { hide: hide.split(",").filter(Boolean), present: large === "1", predict: asks === "1" };
    apply();
    return own;
  };
  redraw = () => open(Object.fromEntries(Object.entries(state()).filter(([, value]) => value !== null
    && value !== undefined && value !== "").map(([name, value]) => [name, String(value)])));
  onMove(() => open(start()));
  const first = start();
  queueMicrotask(() => open(first));
  return { changed, hides: (name) => shown.hide.includes(name) };
}

/** What the address says of a lesson. */
function inAddress({ hide, present, predict: asks }) {
  return { hide: hide.join(), present: present ? 1 : null, predict: asks ? 1 : null };
}

function apply() {
  const names = shown.hide.map((name) => `[data-control="${CSS.escape(name)}"]`);
  hiding.replaceSync(names.length ? `${names.join()} { display: none !important; }` : "");
  root.toggleAttribute("data-present", shown.present);
  presentButton.setAttribute("aria-pressed", String(shown.present));
  predictButton.setAttribute("aria-pressed", String(shown.predict));
}

/** A dialog: what the link hides, and how it opens. */
function copyLink(whole) {
  settle();
  const labels = new Map([...document.querySelectorAll("[data-control]")].map((/** @type {any} */ each) =>
    [each.dataset.control, each.dataset.label ?? each.textContent.trim()]));
  const check = (name, text, checked) => {
    const input = make("input", { type: "checkbox", name, onchange: show });
    input.checked = checked;
    return make("label", { class: "check" }, input, text);
  };
  const hide = make("fieldset", { class: "stack close" }, make("legend", { class: "label" }, "Hide"),
    [...labels].map(([name, text]) => check(name, text, shown.hide.includes(name))));
  const how = make("fieldset", { class: "stack close" }, make("legend", { class: "label" }, "Open it"),
    check("present", "in large type", shown.present), check("predict", "with “predict first”", shown.predict));
  const field = make("input", { type: "text", readonly: true, "aria-label": "The link", class: "lesson-link" });
  const checked = (set) => [...set.querySelectorAll("input:checked")].map((input) => input.name);
  function show() {
    const opens = checked(how);
    field.value = location.origin + write(whole({ hide: checked(hide), present: opens.includes("present"),
      predict: opens.includes("predict") }));
  }
  const dialog = openDialog("Copy link to this lesson",
    make("p", { class: "small muted" }, "The link opens this page as it is now."), hide, how, field,
    make("footer", {}, make("button", { class: "primary", onclick: () => {
      dialog.close();
      copy(field.value, "the link to this lesson");
    } }, "Copy")));
  dialog.id = "lesson-link";
  show();
}

/** Whether answers wait for the viewer. */
export const isPredicting = () => shown.predict;

/**
 * Predict first: keep `answers` (an element, or several) hidden until the viewer has chosen. Without "predict first" it
 * shows them at once. A later call for the same question replaces the earlier one.
 *
 *   predict(table, { at: host, question: "Which child is selected?", choices: { "3v": "3 down" }, answer: "3v" });
 *
 * `at` is the element that the question is put into. In place of `choices` and `answer`, `input(done)` makes an element
 * of any kind that calls `done()` (a curve that is drawn). Returns a promise of the choice: null if nothing was asked.
 * @param {HTMLElement | HTMLElement[]} answers
 * @param {{at: HTMLElement, question: string, choices?: Object<string, string>, answer?: string,
 *   input?: (done: (choice?: string) => void) => HTMLElement}} ask
 * @returns {Promise<string | null>}
 */
export function predict(answers, { at, question, choices = {}, answer, input }) {
  const hidden = [answers].flat();
  const cover = (on) => hidden.forEach((element) => element.classList.toggle("lesson-covered", on));
  at.replaceChildren();
  cover(shown.predict);
  if (!shown.predict) return Promise.resolve(null);
  return new Promise((resolve) => {
    const says = make("p", { role: "status" });
    const done = (choice) => {
      cover(false);
      buttons.forEach((button) => {
        button.disabled = true;
        button.classList.toggle("right", button.value === answer);
        button.setAttribute("aria-pressed", String(button.value === choice));
      });
      if (answer !== undefined) {
        says.textContent = choice === answer ? "Right." : `Not this time: it is ${choices[answer]}.`;
      }
      resolve(choice ?? null);
    };
    const buttons = Object.entries(choices).map(([value, text]) =>
      make("button", { value, onclick: () => done(value) }, text));
    at.append(make("div", { class: "lesson-ask panel stack close", role: "group", "aria-label": question },
      make("h2", {}, question), input ? input(done) : make("div", { class: "row" }, buttons), says));
  });
}
