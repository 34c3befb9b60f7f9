// What all pages share: the top with its links, light and dark, the keys and their list, messages.
import { get, isOwn, whenSlow } from "./api.js";
import { by, draw, icon, make } from "./dom.js";

const PAGES = [["2048", "/2048", "2048"], ["ewn", "/ewn", "EWN"], ["api", "/api", "API"]];
const bound = []; // {keys, says, run, group}
let toasts, notice;

/** Build the top of a page: shell("2048"). The page has <header id="top"> and <main id="main">. */
export function shell(page) {
  const mark = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  for (const [x, y, on] of [[1, 1, 1], [9, 1, 1], [17, 1, 0], [1, 9, 1], [9, 9, 1], [17, 9, 0], [1, 17, 0], [9, 17, 1], [17, 17, 0]]) {
    mark.append(draw("rect", { x, y, width: 6, height: 6, rx: 1.5, fill: on ? "var(--accent)" : "var(--line)" }));
  }
  const nav = make("nav", { "aria-label": "Pages" }, PAGES.map(([name, href, text]) =>
    make("a", { href, "aria-current": name === page && "page" }, text)));
  get("/api/games").then(({ games }) => { // games of one's own come after those with a page
    const own = games.filter(({ game }) => isOwn(game));
    nav.lastElementChild.before(...own.map(({ game, title }) => make("a", { href: `/board?game=${encodeURIComponent(game)}`,
      "aria-current": page === "board" && (new URLSearchParams(location.search).get("game") ?? own[0].game) === game && "page" }, title)));
  }).catch(() => {}); // whatever is wrong, the page says it
  by("top").className = "top";
  by("top").append(
    make("a", { class: "skip", href: "#main" }, "Skip to the board"),
    make("a", { class: "brand", href: "/", "aria-label": "tuplet" }, mark, make("b", {}, "tuplet")),
    nav,
    make("button", { id: "keys", class: "quiet icon", title: "Shortcuts (?)", "aria-label": "Keyboard shortcuts", onclick: showKeys }, "?"),
    themeButton(),
  );
  toasts = make("div", { class: "toasts", role: "status", "aria-live": "polite" });
  if (toasts.showPopover) toasts.popover = "manual"; // stands above dialogs, too
  document.body.append(toasts);
  bind([{ keys: ["?"], says: "this list", run: showKeys, group: "Page" }]);
  addEventListener("keydown", pressed);
  // What was used with a mouse or a thumb keeps no keys from the board.
  let touched = false;
  addEventListener("pointerdown", () => { touched = true; }, true);
  addEventListener("keydown", () => { touched = false; }, true);
  addEventListener("change", ({ target }) => {
    if (touched && target.matches?.("select, input:not([type=text], [type=number])")) target.blur();
  });
  addEventListener("click", ({ target, detail }) => { if (touched && detail > 0) target.closest?.("button")?.blur(); });
  addEventListener("unhandledrejection", (event) => fail(event.reason)); // the browser's console has where
  whenSlow((slow) => compiling(slow, "The server is getting ready: the first time takes some seconds…"));
}

function themeButton() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = make("button", { id: "theme", class: "quiet icon", onclick: () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("tuplet-theme", theme); } catch { /* not remembered, then */ }
    show();
  } });
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const show = () => {
    const says = isDark() ? "Light colours" : "Dark colours";
    button.replaceChildren(icon(isDark() ? "light" : "dark"));
    button.title = says;
    button.setAttribute("aria-label", says);
  };
  dark.addEventListener("change", show);
  show();
  return button;
}

/**
 * Keys and what they do, listed on `?`: bind([{keys: ["u", "Control+z"], says: "undo", run, group}]).
 * A key is what `event.key` says (letters in lower case), with Control+, Alt+ or Shift+ before it
 * where they matter. `run(event)` may return false: the key was not for it.
 */
export function bind(bindings) {
  bound.push(...bindings);
}

function pressed(event) {
  if (event.defaultPrevented || event.altKey || document.querySelector("dialog[open]")) return;
  const at = event.target;
  if (at.closest?.("textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])")) return;
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const held = (event.ctrlKey || event.metaKey ? "Control+" : "") + (event.shiftKey && /^[a-z]$|^.{2,}/.test(letter) ? "Shift+" : "");
  const key = held + letter;
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

const NAMES = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "Space", Escape: "Esc" };
const named = (key) => key.split("+").map((part) => (part === "Control" ? "Ctrl" : NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part))).join("+");

function showKeys() {
  const lists = new Map();
  for (const { says, shown, keys, group = "" } of bound) {
    if (!says) continue;
    if (!lists.has(group)) lists.set(group, make("dl", { class: "shortcuts" }));
    const caps = (shown ?? keys.map(named)).map((key) => make("kbd", {}, key));
    lists.get(group).append(make("dt", {}, caps), make("dd", {}, says));
  }
  const page = lists.get("Page"); // what is special comes first
  lists.delete("Page");
  const inside = [...lists, ["Page", page]].flatMap(([group, list]) => [group ? make("h3", {}, group) : null, list]);
  openDialog("Keyboard shortcuts", ...inside.filter(Boolean)).id = "shortcuts";
}

/** A dialog with a title; it is removed when closed. `inside` are its elements. */
export function openDialog(title, ...inside) {
  const close = make("button", { type: "button", class: "quiet icon", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"));
  const heading = make("h2", {}, title);
  const dialog = make("dialog", { "aria-label": title, onclose: () => dialog.remove(), onclick: (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  } }, make("div", { class: "inside" }, make("header", {}, heading, close), ...inside));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A short word that goes by itself. */
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

/** An error, as one line. */
export function fail(error) {
  if (error?.name === "AbortError") return;
  toast(error?.message ?? String(error), "error", 9000);
}

/** While something is compiled: said once, for as long as it lasts. */
export function compiling(on, text = "Compiling, the first time only: some seconds…") {
  if (on && !notice) notice = toast(make("span", { class: "busy" }, text), "", 120_000);
  else if (!on && notice) { notice(); notice = null; }
}

/** Copy a text, and say so. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied: ${what}`);
  } catch {
    const field = make("textarea", { readonly: true, "aria-label": what });
    field.value = text;
    openDialog(`Copy ${what}`, make("p", { class: "small muted" }, "The browser does not let a page copy here. Press Ctrl+C:"), field);
    field.select();
  }
}
