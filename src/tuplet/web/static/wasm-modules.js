// The modules of the static page (web/wasm_exports.py), each loaded when it is first needed. In workers and in Node.
import { Kernels } from "./wasm-kernels.js";

// A vector instruction, to see whether this browser has them: (v128.const 0) i8x16.popcnt.
const VECTORS = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0,
  253, 15, 253, 98, 11]);

/** The bytes of a file of the site; those of a name in .gz were compressed when it was built. */
async function fetched(name) {
  const response = await fetch(new URL(`kernels/${name}`, import.meta.url));
  if (!response.ok) throw new Error(`${name} is missing: the site is not complete (${response.status})`);
  if (!name.endsWith(".gz")) return new Uint8Array(await response.arrayBuffer());
  const bytes = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(bytes).arrayBuffer());
}

export class Modules {
  #read; #kind;
  #loading = new Map(); // name -> a promise

  /** `read(name)` is a promise of the bytes of a file; `kind` is "simd" or "plain". */
  constructor(read = fetched, kind = WebAssembly.validate(VECTORS) ? "simd" : "plain") {
    this.#read = read;
    this.#kind = kind;
  }

  /** The kernels of a module: the same each time, with memory of their own.
   * @returns {Promise<Kernels>} */
  kernels(name) {
    return this.#once(`kernels ${name}`, async () => {
      const reading = this.#read(`${name}.bin.gz`), { values, layouts } = await this.#json(name);
      const kind = this.#kind in layouts ? this.#kind : "plain"; // some have no use for vectors
      const [data, module] = await Promise.all([reading, this.#read(`${name}.${kind}.wasm.gz`)]);
      return Kernels.open(module, { layout: layouts[kind], values }, data);
    });
  }

  /** What the build knows of games, agents and networks. */
  facts() {
    return this.#once("facts", () => this.#json("facts"));
  }

  /** Fill in the weights of a network: levels that a kernel unpacks (values/levels.py), times a step. `weights` are in
   * the memory of `kernels`. A table of `facts` has a size, the contents of a cell, where it starts, and in 2048 where
   * the bits of its indices stand. */
  async fillWeights(name, facts, kernels, weights) {
    const packed = await this.#read(`${name}.levels`), model = kernels.value("levels");
    const data = kernels.array("uint8", packed.length);
    kernels.items(data).set(packed);
    kernels.bind("begin_levels", { model, data })();
    for (const { size, base, start, bits } of facts.tables) {
      const levels = kernels.array("int16", size);
      kernels.bind("unpack_levels", { model, data, levels, base, decodes: true })();
      const from = kernels.items(levels), to = kernels.items(weights).subarray(start, start + size);
      const [low, high] = bits ? [combinations(bits.slice(0, 10)), combinations(bits.slice(10))] : [];
      for (let i = 0; i < size; i++) to[bits ? low[i & 1023] ^ high[i >> 10] : i] = from[i] * facts.step;
      kernels.forget(levels);
    }
    kernels.forget(data);
    kernels.forget(model);
  }

  async #json(name) {
    return JSON.parse(new TextDecoder().decode(await this.#read(`${name}.json.gz`)));
  }

  /** What is loaded once; again if it failed. */
  #once(name, load) {
    if (!this.#loading.has(name)) {
      const loading = load();
      loading.catch(() => this.#loading.delete(name));
      this.#loading.set(name, loading);
    }
    return this.#loading.get(name);
  }
}

/** For each number the exclusive-or of `bits[k]` over its bits k that are 1. */
function combinations(bits) {
  let all = [0];
  for (const bit of bits) all = [...all, ...all.map((each) => each ^ bit)];
  return Int32Array.from(all);
}
