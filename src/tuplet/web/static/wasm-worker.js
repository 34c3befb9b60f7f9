// The worker of the page without a server: it loads the kernels, and answers what the page would ask a server.
import { Answers, Jobs, Parts } from "./wasm-answers.js";
import { Kernels } from "./wasm-kernels.js";

// A vector instruction, to see whether this browser has them: (v128.const 0) i8x16.popcnt.
const VECTORS = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0,
  253, 15, 253, 98, 11]);

const base = new URL("kernels/", import.meta.url);

/** The bytes of a file of the site that was compressed when it was built. */
async function inflate(name) {
  const response = await fetch(new URL(`${name}.gz`, base));
  if (!response.ok) throw new Error(`${name} is missing: the site is not complete (${response.status})`);
  const bytes = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}

async function open() {
  const vectors = WebAssembly.validate(VECTORS);
  const [module, data, described] = await Promise.all([
    inflate(vectors ? "simd.wasm" : "plain.wasm"), inflate("data.bin"), inflate("layout.json")]);
  const { values, layouts, facts } = JSON.parse(new TextDecoder().decode(described));
  const layout = layouts[vectors ? "simd" : "plain"];
  const kernels = await Kernels.open(module, { layout, values }, data);
  return new Parts(kernels, facts, levelsOf);
}

/** The levels of a network's weights: all low bytes, then all high bytes. */
async function levelsOf(name) {
  const planes = await inflate(`${name}.planes`), count = planes.length / 2;
  const levels = new Int16Array(count);
  for (let i = 0; i < count; i++) levels[i] = planes[i] | planes[count + i] << 8;
  return levels;
}

const ready = open().then((parts) => {
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
