// The state of a page in its address, so that it can be shared and the back button works.
import { spaced } from "./dom.js";

const PLAIN = { "%2C": ",", "%2F": "/", "%3A": ":", "%40": "@", "%3D": "=", "%20": "+" };
const encode = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A|40|3D|20)/g, (code) => PLAIN[code]);

/** The state in an address, as an object of strings. */
export const read = (search = location.search) => Object.fromEntries(new URLSearchParams(search));

/** The address of a state, without values that are null, undefined or empty. */
export function write(state) {
  const parts = Object.entries(state)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${encode(name)}=${encode(String(value))}`);
  return location.pathname + (parts.length ? `?${parts.join("&")}` : "");
}

// Browsers allow some hundred changes of the address in ten seconds, and moves can be faster.
const put = spaced((state, memory) => history.replaceState(memory, "", write(state)), 250);

/** Let the address follow a change (a move), shortly. `memory` is a small plain value that `onMove` gives back; it is
 * not part of the address. */
export const replace = (state, memory = history.state) => put(state, memory);

/** Add an entry to the history (a new game, an edit): the back button leads to the one before. */
export function push(state, memory = null) {
  put.flush();
  if (write(state) === location.pathname + location.search) history.replaceState(memory, "", write(state));
  else history.pushState(memory, "", write(state));
}

/** Write the last state to the address now. */
export const settle = () => put.flush();

/** Call `run` with the state and the memory of the entry that the back or forward button led to. */
export const onMove = (run) => addEventListener("popstate", (event) => run(read(), event.state));

/** The whole address, for sharing. */
export function link(state) {
  return location.origin + write(state);
}

addEventListener("pagehide", () => put.flush());
addEventListener("popstate", () => put.drop()); // it belongs to the previous entry
