// Requests to the server: calls with one answer (`get`, `post`), and jobs whose answers grow (`Live`). Without a server
// a worker answers both.
import { ask as askWorker, isStatic, socket as workerSocket } from "./wasm-client.js";

/** Called with true while an answer takes long enough to be noticed, then with false. */
let onSlow = (_) => {};
/** Called with true while a job waits for the compiler, then with false. */
let onCompiling = (_) => {};

/** Set what happens while the server is slow, and while it compiles. */
export function whenBusy(slow, compiling) {
  [onSlow, onCompiling] = [slow, compiling];
}

// A server that other machines can reach prints its address with a token (#token=…). It is exchanged for a cookie and
// removed from the address, so that it is not shared.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
let loggingIn = token !== null;
let loggedIn = Promise.resolve();
if (token !== null) {
  history.replaceState(history.state, "", location.pathname + location.search);
  loggedIn = fetch("/api/token", jsonRequest({ token })).catch(() => {}).then(() => { loggingIn = false; });
}

function jsonRequest(body) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

let slow = 0; // requests

async function askServer(path, options) {
  await loggedIn;
  const response = await fetch(path, { credentials: "same-origin", ...options }).catch(() => {
    throw new Error("the server does not answer: is `tuplet serve` still running?");
  });
  const answer = await response.json().catch(() => {
    throw new Error(`the server answered ${response.status} to ${path}: its terminal shows why`);
  });
  if (!response.ok) throw new Error(answer.error ?? `the server answered ${response.status}`);
  return answer;
}

async function ask(path, body) {
  let noticed = false;
  const timer = setTimeout(() => {
    noticed = true;
    if (++slow === 1) onSlow(true);
  }, 700);
  try {
    return await (isStatic ? askWorker(path, body) : askServer(path, body === undefined ? {} : jsonRequest(body)));
  } finally {
    clearTimeout(timer);
    if (noticed && --slow === 0) onSlow(false);
  }
}

export const get = (path) => ask(path);
export const post = (path, body) => ask(path, body);

/** Whether a game comes from `serve --game`. All others have their own pages. */
export const isUserGame = (game) => !/^(2048|ewn)(:|$)|^ewn-6x7$/.test(game);

const MAX_JOBS = 4; // on a socket, as the server has it

/** One socket for all jobs of a page. It is opened with the first job, and again if the connection is lost. */
export class Live {
  #socket = null;
  #jobs = new Map();
  #waiting = new Set(); // jobs that the server has not been sent: too many are running
  #next = 1;

  /**
   * Start a job: `live.start({type: "analyze", ...}, onFrame)`. Each frame is given to `onFrame` and acknowledged once
   * it is drawn; the last one has `done`. A job that fails ends with a frame {error, done}.
   */
  start(message, onFrame) {
    const id = this.#next++;
    const unsent = [{ ...message, id }];
    const job = {
      id,
      onFrame,
      done: false,
      muted: false,
      /** Send a message about the job: {type: "pace", pace: 0.1}. */
      send: (more) => {
        if (job.done) return;
        if (this.#waiting.has(job)) unsent.push({ ...more, id });
        else this.#send({ ...more, id });
      },
      /** Stop it and ignore its frames; `stop(true)`: wait for its last frame. */
      stop: (hear = false) => {
        if (job.done) return;
        if (this.#waiting.delete(job)) queueMicrotask(() => this.#receive({ id, stopped: true, done: true }));
        else job.send({ type: "stop" });
        job.done = job.muted = !hear;
      },
      begin: () => unsent.forEach((each) => this.#send(each)),
    };
    // A stopped job counts until the server has confirmed it.
    if (this.#jobs.size - this.#waiting.size < MAX_JOBS) job.begin();
    else this.#waiting.add(job);
    this.#jobs.set(id, job);
    return job;
  }

  #send(message) {
    if (loggingIn) {
      loggedIn.then(() => this.#send(message));
      return;
    }
    const socket = this.#open();
    const text = JSON.stringify(message);
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else if (socket.readyState === WebSocket.CONNECTING) {
      socket.addEventListener("open", () => socket.send(text), { once: true });
    }
  }

  #open() {
    if (this.#socket && this.#socket.readyState <= WebSocket.OPEN) return this.#socket;
    if (isStatic) return this.#socket = workerSocket((frame) => this.#receive(frame));
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/live`);
    socket.addEventListener("message", (event) => this.#receive(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      if (this.#socket === socket) this.#socket = null;
      const error = event.reason || "the connection to the server was lost: is `tuplet serve` still running?";
      const lost = [...this.#jobs.keys()];
      this.#waiting.clear();
      for (const id of lost) this.#receive({ id, error, done: true });
    });
    this.#socket = socket;
    return socket;
  }

  #receive(frame) {
    const job = this.#jobs.get(frame.id);
    if (!job) {
      if (frame.error) console.warn(frame.error);
      return;
    }
    if (frame.done) {
      this.#jobs.delete(frame.id);
      job.done = true;
      const [next] = this.#waiting;
      if (next && this.#jobs.size - this.#waiting.size < MAX_JOBS) {
        this.#waiting.delete(next);
        next.begin();
      }
    }
    if (job.muted) return;
    onCompiling(Boolean(frame.compiling) && !frame.done);
    job.onFrame(frame);
    if (!frame.done) requestAnimationFrame(() => job.send({ type: "ack" }));
  }
}
