// The modules of the static page (web/wasm_exports.py), each loaded when it is first needed. In workers and in Node.
import { Kernels } from "./wasm-kernels.js";

// A vector instruction, to see whether this browser has them: (v128.const 0) i8x16.popcnt.
const VECTORS = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0,
  253, 15, 253, 98, 11]);

/** The bytes of a file of the site that was compressed when it was built. */
async function fetched(name) {
  const response = await fetch(new URL(`kernels/${name}.gz`, import.meta.url));
  if (!response.ok) throw new Error(`${name} is missing: the site is not complete (${response.status})`);
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
      const [module, data, described] = await Promise.all([
        this.#read(`${name}.${this.#kind}.wasm`), this.#read(`${name}.bin`), this.#json(name)]);
      const { values, layouts } = described;
      return Kernels.open(module, { layout: layouts[this.#kind], values }, data);
    });
  }

  /** What the build knows of games, agents and networks. */
  facts() {
    return this.#once("facts", () => this.#json("facts"));
  }

  /** The levels of a network's weights, kept as all low bytes, then all high bytes.
   * @returns {Promise<Int16Array>} */
  async levels(name) {
    const planes = await this.#read(`${name}.planes`), count = planes.length / 2;
    const levels = new Int16Array(count);
    for (let i = 0; i < count; i++) levels[i] = planes[i] | planes[count + i] << 8;
    return levels;
  }

  async #json(name) {
    return JSON.parse(new TextDecoder().decode(await this.#read(`${name}.json`)));
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
