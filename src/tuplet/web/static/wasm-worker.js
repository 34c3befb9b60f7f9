// The worker of the page without a server: it loads the kernels, and answers what the page would ask a server.
import { Answers, Jobs, Parts } from "./wasm-answers.js";
import { Modules } from "./wasm-modules.js";

const ready = Parts.open(new Modules()).then((parts) => {
  const answers = new Answers(parts);
  return { answers, jobs: new Jobs(answers, (frame) => postMessage({ frame })) };
});

addEventListener("message", async ({ data: { call, path, body, message } }) => {
  try {
    const { answers, jobs } = await ready;
    if (message) jobs.handle(message);
    else postMessage({ call, answer: await answers.ask(path, body) });
  } catch (error) {
    if (message) postMessage({ frame: { id: message.id, error: error.message, done: true } });
    else postMessage({ call, error: error.message });
  }
});
