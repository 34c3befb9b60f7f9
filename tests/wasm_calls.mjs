// Makes the calls of wasm_calls.py: node wasm_calls.mjs FOLDER
import { readFileSync } from "node:fs";
import { Kernels } from "../src/tuplet/web/static/wasm-kernels.js";

const folder = process.argv[2];
const { head, calls } = JSON.parse(readFileSync(`${folder}/calls.json`, "utf8"));
const data = new Uint8Array(readFileSync(`${folder}/data.bin`));
const kernels = await Kernels.open(readFileSync(`${folder}/kernels.wasm`), head, data);
const values = Object.fromEntries(Object.keys(head.values).map((name) => [name, kernels.value(name)]));

const named = (path) => path.split(".").reduce((value, field) => value[field], values);
const given = (value) => (typeof value === "string" ? named(value) : number(value.is));
const number = (value) => {
  if (Array.isArray(value)) return value.map(number);
  if (value?.float !== undefined) return { inf: Infinity, "-inf": -Infinity, nan: NaN }[value.float] ?? Number(value.float);
  return typeof value === "string" ? BigInt(value) : value;
};

const bits = new DataView(new ArrayBuffer(8));
const plain = (value, type) => {
  if (Array.isArray(value)) return value.map((each, i) => plain(each, Object.values(type)[i]));
  if (value === null || typeof value === "boolean") return value;
  if (type.startsWith("float")) {
    bits.setFloat64(0, value);
    return { bits: bits.getBigUint64(0).toString(16) };
  }
  return type === "bool" ? Boolean(value) : String(value);
};

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xEDB88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
const crc32 = (bytes) => {
  let sum = -1;
  for (const byte of bytes) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ -1) >>> 0;
};

const bound = new Map();
const answers = calls.map(([kernel, args, show, checksum]) => {
  const entries = Object.entries(args);
  const fixed = entries.filter(([, value]) => typeof value === "string"); // values by name: bound once
  const key = kernel + JSON.stringify(fixed);
  if (!bound.has(key)) bound.set(key, kernels.bind(kernel, Object.fromEntries(fixed.map(([k, v]) => [k, given(v)]))));
  const rest = entries.filter(([, value]) => typeof value !== "string");
  const result = bound.get(key)(Object.fromEntries(rest.map(([k, v]) => [k, given(v)])));
  const items = (path) => [...kernels.items(named(path))].map((each) => plain(each, named(path).array));
  const bytesOf = (path) => {
    const all = kernels.items(named(path));
    return new Uint8Array(all.buffer, all.byteOffset, all.byteLength);
  };
  return [plain(result, kernels.layout.exports[kernel].result), show.map(items), checksum.map((path) => crc32(bytesOf(path)))];
});
console.log(JSON.stringify(answers));
