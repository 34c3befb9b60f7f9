// Asking the server: questions with one answer (`get`, `post`), and jobs whose answers grow (`Live`).

/** Called with true while an answer takes long enough to be noticed, then with false. */
let onSlow = () => {};
export const whenSlow = (run) => { onSlow = run; };
let slow = 0;

// A server that listens to more than this machine gives its address with a token (#token=…): it is
// exchanged for a cookie, and taken out of the address before anybody can share it.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
let waiting = token !== null;
let admitted = Promise.resolve();
if (token !== null) {
  history.replaceState(history.state, "", location.pathname + location.search);
  admitted = fetch("/api/token", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }), credentials: "same-origin",
  }).catch(() => {}).then(() => { waiting = false; });
}

async function ask(path, request) {
  await admitted;
  let noticed = false;
  const timer = setTimeout(() => { noticed = true; if (++slow === 1) onSlow(true); }, 700);
  try {
    const answer = await fetch(path, { credentials: "same-origin", ...request });
    let found;
    try {
      found = await answer.json();
    } catch {
      throw new Error(`the server answered ${answer.status} to ${path}: look at its window for the reason`);
    }
    if (!answer.ok) throw new Error(found.error ?? `the server answered ${answer.status}`);
    return found;
  } catch (error) {
    if (error instanceof TypeError) throw new Error("the server does not answer: is `tuplet serve` still running?");
    throw error;
  } finally {
    clearTimeout(timer);
    if (noticed && --slow === 0) onSlow(false);
  }
}

export const get = (path) => ask(path, {});

export const post = (path, body, signal) => ask(path, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
});

/** Whether a game is one of somebody's own, from `serve --game`: all others have pages of their own. */
export const isOwn = (game) => !/^(2048|ewn)(:|$)|^ewn-6x7$/.test(game);

const MAX_JOBS = 4; // of a socket at once, as the server has it

/** One socket for all jobs of a page. It opens with the first job, and again if it was lost. */
export class Live {
  #socket = null;
  #jobs = new Map();
  #held = new Set(); // jobs that wait until there is room for them
  #next = 1;

  /**
   * Start a job: `live.start({type: "analyze", ...}, onFrame)`. Every frame is given to `onFrame`, then, once it is drawn, the next one asked for; the last has
   * `done`. A job that fails, or whose connection is lost, ends with a frame {error, done}.
   */
  start(request, onFrame) {
    const id = this.#next++;
    const job = {
      id,
      done: false,
      /** Say something about the job: {type: "pace", pace: 0.1}. */
      send: (message) => !job.done && job.say({ ...message, id }),
      /** End it and hear no more of it; `stop(true)`: hear its last frame. */
      stop: (hear = false) => {
        if (job.done) return;
        const unheard = this.#held.delete(job);
        if (!unheard) job.send({ type: "stop" });
        if (!hear) { job.done = true; job.deaf = true; }
        if (unheard) queueMicrotask(() => this.#hear({ id, stopped: true, done: true }));
      },
      deaf: false,
      onFrame,
    };
    const messages = [{ ...request, id }];
    job.say = (message) => messages.push(message);
    job.begin = () => {
      job.say = (message) => this.#say(message);
      messages.forEach(job.say);
    };
    // One that was stopped counts until the server says so: what is asked in a hurry waits for its turn.
    if (this.#jobs.size - this.#held.size < MAX_JOBS) job.begin();
    else this.#held.add(job);
    this.#jobs.set(id, job);
    return job;
  }

  #say(message) {
    if (waiting) {
      admitted.then(() => this.#say(message));
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
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/live`);
    socket.addEventListener("message", (event) => this.#hear(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      if (this.#socket === socket) this.#socket = null;
      const why = event.reason || "the connection to the server was lost: is `tuplet serve` still running?";
      const lost = [...this.#jobs.values()];
      this.#jobs.clear();
      this.#held.clear();
      for (const job of lost) {
        if (job.deaf) continue;
        job.done = true;
        job.onFrame({ id: job.id, error: why, done: true, lost: true });
      }
    });
    this.#socket = socket;
    return socket;
  }

  #hear(frame) {
    const job = this.#jobs.get(frame.id);
    if (!job) {
      if (frame.error) console.warn(frame.error);
      return;
    }
    if (frame.done) {
      this.#jobs.delete(frame.id);
      job.done = true;
      const [next] = this.#held;
      if (next && this.#jobs.size - this.#held.size < MAX_JOBS) { this.#held.delete(next); next.begin(); }
    }
    if (!job.deaf) job.onFrame(frame);
    if (!frame.done && !job.deaf) requestAnimationFrame(() => job.send({ type: "ack" }));
  }
}
