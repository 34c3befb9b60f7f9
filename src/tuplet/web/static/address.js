// What one sees, in the address: so that it can be shared, and the back button works.
import { spaced } from "./dom.js";

const PLAIN = { "%2C": ",", "%2F": "/", "%3A": ":", "%40": "@", "%3D": "=", "%20": "+" };
const encode = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A|40|3D|20)/g, (code) => PLAIN[code]);

/** The state in an address, as a plain object of texts. */
export const read = (search = location.search) => Object.fromEntries(new URLSearchParams(search));

/** The address of a state; what is null, undefined or empty is left out. */
export function write(state) {
  const parts = Object.entries(state)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${encode(name)}=${encode(String(value))}`);
  return location.pathname + (parts.length ? `?${parts.join("&")}` : "");
}

// Browsers allow some hundred changes of the address in ten seconds: moves come faster.
const put = spaced((state, memory) => history.replaceState(memory, "", write(state)), 250);

/** The state has become another one (a move): the address follows, shortly. `memory` is any small
 * plain value to be had back from `onMove`; it is not part of what is shared. */
export const replace = (state, memory = history.state) => put(state, memory);

/** A jump (a new game, an edit): the back button leads to where we were. */
export function push(state, memory = null) {
  put.flush();
  if (write(state) === location.pathname + location.search) history.replaceState(memory, "", write(state));
  else history.pushState(memory, "", write(state));
}

/** Make sure that the address says what was last said. */
export const settle = () => put.flush();

/** Called with the state and the memory of where the back or forward button led. */
export const onMove = (run) => addEventListener("popstate", (event) => run(read(), event.state));

/** The whole address, as it is shared. */
export function link(state) {
  return location.origin + write(state);
}

addEventListener("pagehide", () => put.flush());
addEventListener("popstate", () => put.drop()); // it was of the entry that was left
