// Learns in Node as the page does, block by block: node wasm_learn.mjs SITE ASKED, where ASKED is JSON:
// [{settings, games, changes: [{game, ...}]}, ...]. Prints the curve of each, and a game of its player.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Curve } from "../src/tuplet/web/static/wasm-curve.js";
import { complete } from "../src/tuplet/web/static/wasm-learn.js";
import { Learner } from "../src/tuplet/web/static/wasm-learner.js";
import { Modules } from "../src/tuplet/web/static/wasm-modules.js";

const [site, asked] = process.argv.slice(2);
const read = async (name) => {
  const bytes = readFileSync(`${site}/static/kernels/${name}`);
  return name.endsWith(".gz") ? gunzipSync(bytes) : bytes;
};
const answers = [];
for (const { settings, games, changes = [] } of JSON.parse(asked)) {
  const modules = new Modules(read, "simd"), { learning } = await modules.facts();
  const learner = new Learner(await modules.kernels("learn"), learning, complete(learning, settings));
  const curve = new Curve();
  for (const { game, ...changed } of [...changes, { game: games }]) {
    while (learner.games < game) curve.add({ ...learner.play(game), seconds: 0 });
    if (game < games) learner.change(changed);
  }
  answers.push({ curve: curve.json(10_000), game: learner.game(7) });
}
console.log(JSON.stringify(answers));
