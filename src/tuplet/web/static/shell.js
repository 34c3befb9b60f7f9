// What all pages share: the top with its links, light and dark, keyboard shortcuts, messages, and pasting.
import { get, isUserGame, post, whenBusy } from "./api.js";
import { by, draw, icon, make } from "./dom.js";
import { isStatic } from "./wasm-client.js";

/** The address of a page, such as "ewn". */
export const pageAddress = (page) => (isStatic ? `${page}.html` : `/${page}`);

const PAGES = { 2048: "2048", ewn: "EWN", learn: "Learn", ...(isStatic ? {} : { api: "API" }) };
const bound = []; // {keys, says, run, group}
let toasts, notice;
const reported = new WeakSet(); // errors

/** Build the top of a page: shell("2048"). The page has <header id="top"> and <main id="main">. */
export function shell(page) {
  const mark = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  for (const [i, on] of [1, 1, 0, 1, 1, 0, 0, 1, 0].entries()) {
    mark.append(draw("rect", { x: 1 + 8 * (i % 3), y: 1 + 8 * Math.floor(i / 3), width: 6, height: 6, rx: 1.5,
      fill: on ? "var(--accent)" : "var(--line)" }));
  }
  const nav = make("nav", { "aria-label": "Pages" }, Object.entries(PAGES).map(([name, text]) =>
    make("a", { href: pageAddress(name), "aria-current": name === page && "page" }, text)));
  get("/api/games").then(({ games }) => {
    const own = games.filter(({ game }) => isUserGame(game));
    const current = page === "board" && (new URLSearchParams(location.search).get("game") ?? own[0]?.game);
    nav.lastElementChild.before(...own.map(({ game, title }) => make("a", {
      href: `/board?game=${encodeURIComponent(game)}`, "aria-current": game === current && "page" }, title)));
  }).catch(() => {}); // the page itself reports what is wrong
  by("top").className = "top";
  by("top").append(
    make("a", { class: "skip", href: "#main" }, "Skip to the board"),
    make("a", { class: "brand", href: isStatic ? "./" : "/", "aria-label": "tuplet" }, mark, make("b", {}, "tuplet")),
    nav,
    make("button", { id: "where", class: "quiet small", title: "Where the answers come from", onclick: showWhere },
      isStatic ? "no server" : "server"),
    make("button", { id: "keys", class: "quiet icon", title: "Shortcuts (?)", "aria-label": "Keyboard shortcuts",
      onclick: showKeys }, "?"),
    themeButton(),
  );
  toasts = make("div", { class: "toasts", role: "status", "aria-live": "polite" });
  if (toasts.showPopover) toasts.popover = "manual"; // above dialogs
  document.body.append(toasts);
  bind([{ keys: ["?"], says: "this list", run: showKeys, group: "Page" }]);
  addEventListener("keydown", pressed);
  // After a click or a tap, keys belong to the board again.
  let touched = false;
  addEventListener("pointerdown", () => { touched = true; }, true);
  addEventListener("keydown", () => { touched = false; }, true);
  addEventListener("change", (/** @type {any} */ { target }) => {
    if (touched && target.matches?.("select, input:not([type=text], [type=number])")) target.blur();
  });
  addEventListener("click", (/** @type {any} */ { target, detail }) => {
    if (touched && detail > 0) target.closest?.("button")?.blur();
  });
  addEventListener("unhandledrejection", (event) => fail(event.reason)); // the console still shows the stack
  const slowly = isStatic ? "Loading the kernels and the player, 2 MB. The first time takes some seconds…"
    : "The server is getting ready. The first time takes some seconds…";
  whenBusy((slow) => busy(slow, slowly),
    (compiling) => busy(compiling, "Compiling, the first time only. This takes some seconds…"));
}

/** Say where the answers come from, and what there is only with a server. */
function showWhere() {
  const list = (...lines) => make("ul", { class: "links" }, lines.map((line) => make("li", {}, line)));
  if (isStatic) {
    openDialog("This page has no server",
      make("p", {}, "Everything runs in your browser: tuplet's Python kernels, compiled to WebAssembly, in a worker. "
        + "Values, moves and searches are those of the Python package, bit for bit. Nothing is sent anywhere, and "
        + "after the first visit the page works without a network."),
      make("p", {}, "With ", make("code", {}, "pip install tuplet"), " and ", make("code", {}, "tuplet serve"),
        " the same page also has"),
      list("the strong player, training runs that outlive the page, and your own games and agents",
        "every game of EWN's family, every bandit, and an agent that exploits the course's opponents",
        "reviews of small boards by their exact solution", "searches on all cores of your machine",
        "the HTTP API")).id = "where-says";
  } else {
    openDialog("This page asks a server",
      make("p", {}, `The answers come from tuplet serve at ${location.host}. `, make("code", {}, "make site"),
        " writes the same page as a folder that needs no server: kernels compiled to WebAssembly play, value and "
        + "search in the browser.")).id = "where-says";
  }
}

function themeButton() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = make("button", { id: "theme", class: "quiet icon", onclick: () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("tuplet-theme", theme); } catch { /* it is not remembered */ }
    show();
  } });
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.replaceChildren(icon(isDark() ? "light" : "dark"));
    button.title = isDark() ? "Light colours" : "Dark colours";
    button.setAttribute("aria-label", button.title);
  };
  dark.addEventListener("change", show);
  show();
  return button;
}

/**
 * Bind keys, and list them on `?`: bind([{keys: ["u", "Control+z"], says: "undo", run, group}]). A key is `event.key`
 * (letters in lower case), after Control+ or Shift+ where they matter. `run(event)` returns false to pass a key on.
 */
export function bind(bindings) {
  bound.push(...bindings);
}

function pressed(event) {
  if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
  const at = event.target;
  if (at.closest?.(`textarea, select, [contenteditable], ${TEXT_INPUT}`)) return;
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const control = event.ctrlKey || event.metaKey ? "Control+" : "";
  const shift = event.shiftKey && /^[a-z]$|^.{2,}/.test(letter) ? "Shift+" : "";
  const key = control + shift + letter;
  // Space and arrows belong to the button, slider or choice that has the focus.
  if (key === " " && at.closest?.("button, input, summary, a, [role=button]")) return;
  if (key.startsWith("Arrow") && at.closest?.("input, [role=tablist], [role=listbox], [role=grid]")) return;
  for (const one of bound) {
    if (one.keys.includes(key) && one.run(event) !== false) {
      event.preventDefault();
      return;
    }
  }
}

const TEXT_INPUT = "input:not([type=checkbox], [type=radio], [type=range])";
const NAMES = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "Space", Escape: "Esc",
  Control: "Ctrl" };
const named = (key) => key.split("+").map((part) =>
  NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join("+");

function showKeys() {
  const lists = new Map();
  for (const { says, shown, keys, group = "" } of bound) {
    if (!says) continue;
    if (!lists.has(group)) lists.set(group, make("dl", { class: "shortcuts" }));
    const caps = (shown ?? keys.map(named)).map((key) => make("kbd", {}, key));
    lists.get(group).append(make("dt", {}, caps), make("dd", {}, says));
  }
  const page = lists.get("Page"); // comes last
  lists.delete("Page");
  const inside = [...lists, ["Page", page]].flatMap(([group, list]) => [group ? make("h3", {}, group) : null, list]);
  openDialog("Keyboard shortcuts", ...inside.filter(Boolean)).id = "shortcuts";
}

/** A dialog with a title; it is removed when closed. `inside` are its elements. */
export function openDialog(title, ...inside) {
  const close = make("button", { type: "button", class: "quiet icon", "aria-label": "Close",
    onclick: () => dialog.close() }, icon("close"));
  const heading = make("h2", {}, title);
  const dialog = make("dialog", { "aria-label": title, onclose: () => dialog.remove(), onclick: (event) => {
    if (event.target === dialog) dialog.close(); // a click beside it
  } }, make("div", { class: "inside" }, make("header", {}, heading, close), ...inside));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Show a short message for some seconds. Returns a function that removes it. */
export function toast(text, kind = "", stay = 3500) {
  while (toasts.childElementCount > 2) toasts.firstElementChild.remove();
  const one = make("div", { class: `toast ${kind}` }, text);
  if (kind === "error") one.append(make("button", { onclick: () => gone() }, "OK"));
  const gone = () => {
    one.remove();
    if (!toasts.childElementCount && toasts.popover) toasts.hidePopover();
  };
  toasts.append(one);
  if (toasts.popover && !toasts.matches(":popover-open")) toasts.showPopover();
  setTimeout(gone, stay);
  return gone;
}

/** Show an error as one line, once. */
export function fail(error) {
  if (reported.has(Object(error))) return;
  reported.add(Object(error));
  toast(error?.message ?? String(error), "error", 9000);
}

/** Say that the server is busy, for as long as it is. */
function busy(on, text) {
  if (on && !notice) notice = toast(make("span", { class: "busy" }, text), "", 120_000);
  else if (!on && notice) {
    notice();
    notice = null;
  }
}

/** Read a text: a position or a game, as `Game.loadText` takes it. */
export const readText = (text, game) => post("/api/read", { text, game });

/** Let what is pasted anywhere on the page be read: `game()` is the name of its game. */
export function onPaste(game, run) {
  addEventListener("paste", (/** @type {any} */ event) => {
    if (event.target.closest?.("input, textarea") || document.querySelector("dialog[open]")) return;
    const text = event.clipboardData.getData("text");
    if (text.trim()) readText(text, game()).then(run).catch(fail);
  });
}

/** Copy a text, and say so. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied: ${what}`);
  } catch {
    const field = make("textarea", { readonly: true, "aria-label": what });
    field.value = text;
    openDialog(`Copy ${what}`,
      make("p", { class: "small muted" }, "The browser does not allow this page to copy. Press Ctrl+C:"), field);
    field.select();
  }
}
