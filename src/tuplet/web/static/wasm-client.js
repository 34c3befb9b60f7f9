// The page without a server: a worker answers what is asked (wasm-worker.js), behind the same two calls of api.js.

/** Whether there is no server: the page comes from a folder that `make site` wrote. */
export const isStatic = document.querySelector('meta[name="tuplet"][content="static"]') !== null;

const waiting = new Map(); // calls without an answer
let worker = null, calls = 0, onFrame = (_) => {};

function open() {
  if (worker) return worker;
  worker = new Worker(new URL("./wasm-worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data: { frame, call, answer, error } }) => {
    if (frame) {
      onFrame(frame);
      return;
    }
    const { resolve, reject } = waiting.get(call);
    waiting.delete(call);
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  });
  worker.addEventListener("error", () => {
    const error = new Error("this browser cannot run the page without a server: it needs module workers");
    waiting.forEach(({ reject }) => reject(error));
    waiting.clear();
  });
  return worker;
}

/** The answer to a call; those about training runs come from the workers of learners. */
export function ask(path, body) {
  if (/^\/api\/runs?(\/|$)/.test(path)) return import("./wasm-learn.js").then((learn) => learn.ask(path, body));
  return new Promise((resolve, reject) => {
    waiting.set(++calls, { resolve, reject });
    open().postMessage({ call: calls, path, body });
  });
}

/** What a socket is to jobs: `receive` is called with each frame. */
export function socket(receive) {
  onFrame = receive;
  return { readyState: WebSocket.OPEN, send: (text) => open().postMessage({ message: JSON.parse(text) }) };
}

if (isStatic) {
  open();
  navigator.serviceWorker?.register("sw.js").catch(() => {}); // then the page needs the network each time
}
