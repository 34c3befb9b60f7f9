// Kernels as WebAssembly (kernel/wasm.py): memory for their arrays, and calls by name. In workers and in Node.

const KINDS = { uint8: Uint8Array, bool: Uint8Array, int16: Int16Array, uint16: Uint16Array,
  int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array, float32: Float32Array, float64: Float64Array, record: Uint8Array };
const PAGE = 65536;

/**
 * An array in the memory of the kernels.
 * @typedef {{array: string, shape: number[], itemsize: number, at: number}} Memory
 */

const isArray = (type) => Array.isArray(type) && type[0] === "array";
const countOf = (shape) => shape.reduce((product, each) => product * each, 1);

export class Kernels {
  layout; values; data; functions;
  #free = new Map(); // bytes -> addresses
  #end;

  /** Compile a module and describe its memory; `layout`, `values` and `data` are what `kernel/wasm.py` writes. */
  static async open(module, { layout, values }, data) {
    const kernels = new Kernels(layout, values, data);
    const env = {
      __linear_memory: kernels.memory,
      __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, layout.stack),
      __indirect_function_table: new WebAssembly.Table({ initial: 1, element: "anyfunc" }),
      tuplet_monotonic: () => performance.now() / 1000,
    };
    const { instance } = await WebAssembly.instantiate(module, { env });
    kernels.functions = instance.exports;
    return kernels;
  }

  constructor(layout, values, data) {
    Object.assign(this, { layout, values, data });
    this.memory = new WebAssembly.Memory({ initial: Math.ceil(layout.stack / PAGE) + 1 });
    this.#end = layout.stack;
    this.#look();
  }

  #look() {
    this.bytes = new DataView(this.memory.buffer);
  }

  /** The address of `size` bytes that are 0, at a cache line. */
  allocate(size) {
    const rounded = Math.max(64, (size + 63) & ~63);
    const again = this.#free.get(rounded)?.pop();
    if (again !== undefined) {
      new Uint8Array(this.memory.buffer, again, rounded).fill(0);
      return again;
    }
    const at = this.#end;
    this.#end += rounded;
    const missing = this.#end - this.memory.buffer.byteLength;
    if (missing > 0) {
      this.memory.grow(Math.ceil(missing / PAGE));
      this.#look();
    }
    return at;
  }

  release(at, size) {
    const rounded = Math.max(64, (size + 63) & ~63);
    if (!this.#free.has(rounded)) this.#free.set(rounded, []);
    this.#free.get(rounded).push(at);
  }

  /** @returns {Memory} an array of zeros */
  array(kind, ...shape) {
    const itemsize = KINDS[kind].BYTES_PER_ELEMENT;
    return { array: kind, shape, itemsize, at: this.allocate(countOf(shape) * itemsize) };
  }

  /** The items of an array; valid until something else is allocated. */
  items(array) {
    const count = countOf(array.shape) * (array.array === "record" ? array.itemsize : 1);
    return new KINDS[array.array](this.memory.buffer, array.at, count);
  }

  /** A value of the list in web/wasm_exports.py, with arrays of its own. `resize` maps the length of an array in the
   * list to the length it is to have. */
  value(name, resize = (length) => length) {
    const make = (each) => {
      if (Array.isArray(each)) return each.map(make);
      if (each === null || typeof each !== "object") return typeof each === "string" ? BigInt(each) : each;
      if ("float" in each) return Number(each.float);
      if (!("array" in each)) return Object.fromEntries(Object.entries(each).map(([key, part]) => [key, make(part)]));
      const shape = each.shape.length === 1 ? [resize(each.shape[0])] : each.shape;
      const size = countOf(shape) * each.itemsize, at = this.allocate(size);
      const bytes = new Uint8Array(this.memory.buffer, at, size);
      if (each.at !== null) bytes.set(this.data.subarray(each.at, each.at + size));
      return { ...each, shape, at };
    };
    return make(this.values[name]);
  }

  /** Give the memory of a value's arrays back. */
  forget(value) {
    if (value === null || typeof value !== "object") return;
    if ("array" in value) this.release(value.at, countOf(value.shape) * value.itemsize);
    else for (const part of Object.values(value)) this.forget(part);
  }

  /** A kernel as a function: its arguments are given here by name, and those that change with each call. */
  bind(name, given) {
    const { call, arguments: types, result, result_at: end, size } = this.layout.exports[name];
    const run = this.functions[call], block = this.allocate(size), places = {};
    let at = block;
    for (const [key, type] of Object.entries(types)) {
      places[key] = at;
      at = this.#write(type, given[key], at);
    }
    return (changed = {}) => {
      for (const [key, value] of Object.entries(changed)) this.#write(types[key], value, places[key]);
      run(block);
      return result === null ? null : this.#read(result, block + end)[0];
    };
  }

  /** Write an argument to a block, flattened; returns the end. An argument that is not given yet leaves its place. */
  #write(type, value, at) {
    const { bytes } = this;
    if (isArray(type)) {
      const dimensions = type[2];
      if (value !== undefined) {
        const { shape, itemsize } = value;
        const strides = shape.map((_, i) => itemsize * countOf(shape.slice(i + 1)));
        const words = [0, 0, countOf(shape), itemsize, value.at, ...shape, ...strides];
        words.forEach((word, i) => bytes.setBigInt64(at + 8 * i, BigInt(word), true));
      }
      return at + 8 * (5 + 2 * dimensions);
    }
    if (typeof type === "object") {
      for (const [key, each] of Object.entries(type)) at = this.#write(each, value?.[key], at);
      return at;
    }
    if (value !== undefined) this.#put(type, value, at);
    return at + 8;
  }

  #put(type, value, at) {
    const { bytes } = this;
    if (type === "float64") bytes.setFloat64(at, value, true);
    else if (type === "float32") bytes.setFloat32(at, value, true);
    else if (type === "bool") bytes.setUint8(at, Number(value));
    else bytes.setBigInt64(at, BigInt.asIntN(64, BigInt(value)), true);
  }

  /** A result, and its end: a number, a BigInt, a boolean, or a list of these. */
  #read(type, at) {
    const { bytes } = this;
    if (isArray(type)) throw new Error("a kernel that returns an array cannot be called");
    if (typeof type === "object") {
      const list = [], start = at;
      for (const each of Object.values(type)) {
        const [value, end] = this.#read(each, at);
        list.push(value);
        at = end;
      }
      return [list, start + Math.ceil((at - start) / 8) * 8];
    }
    const size = type === "bool" ? 1 : Number(/\d+$/.exec(type)[0]) / 8;
    at = Math.ceil(at / size) * size;
    const value = type === "bool" ? bytes.getUint8(at) !== 0
      : type === "float64" ? bytes.getFloat64(at, true)
        : type === "float32" ? bytes.getFloat32(at, true)
          : type === "uint64" ? bytes.getBigUint64(at, true)
            : type === "int64" ? Number(bytes.getBigInt64(at, true)) : bytes.getInt32(at, true);
    return [value, at + size];
  }
}
