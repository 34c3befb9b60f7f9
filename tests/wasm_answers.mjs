// Asks the worker's answers: node wasm_answers.mjs SITE MODULE < questions; a line of JSON each, [path, body].
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const [site, kind] = process.argv.slice(2), folder = `${site}/static`;
const { Answers, Jobs, Parts } = await import(pathToFileURL(`${folder}/wasm-answers.js`).href);
const { Modules } = await import(pathToFileURL(`${folder}/wasm-modules.js`).href);
const read = async (name) => {
  const bytes = readFileSync(`${folder}/kernels/${name}`);
  return new Uint8Array(name.endsWith(".gz") ? gunzipSync(bytes) : bytes);
};
const parts = await Parts.open(new Modules(read, kind));
const answers = new Answers(parts);

/** The frames of a job, each acknowledged at once. */
const frames = (message) => new Promise((resolve) => {
  const all = [];
  const jobs = new Jobs(answers, (frame) => {
    all.push(frame);
    if (frame.done) resolve(all);
    else setTimeout(() => jobs.handle({ type: "ack", id: frame.id }));
  });
  jobs.handle({ id: 1, ...message });
});

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [path, body] = JSON.parse(line);
  let answer;
  try {
    answer = path === "live" ? await frames(body) : await answers.ask(path, body ?? {});
  } catch (error) {
    if (error.constructor.name !== "Problem") throw error;
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
}
