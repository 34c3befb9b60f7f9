// Learns in Node as the page does, block by block: node wasm_learn.mjs SITE ASKED, where ASKED is JSON:
// [{settings, games, changes: [{game, ...}]}, ...]. Prints the curve of each, and a game of its player.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Curve, EvaluationCurve } from "../src/tuplet/web/static/wasm-curve.js";
import { complete } from "../src/tuplet/web/static/wasm-learn.js";
import { Learner } from "../src/tuplet/web/static/wasm-learner.js";
import { LearnerEwn } from "../src/tuplet/web/static/wasm-learner-ewn.js";
import { Modules } from "../src/tuplet/web/static/wasm-modules.js";

const [site, asked] = process.argv.slice(2);
const read = async (name) => {
  const bytes = readFileSync(`${site}/static/kernels/${name}`);
  return name.endsWith(".gz") ? gunzipSync(bytes) : bytes;
};
const answers = [];
for (const { settings, games, changes = [] } of JSON.parse(asked)) {
  const modules = new Modules(read, "simd"), { learning } = await modules.facts();
  const ewn = settings.game === "ewn", whole = complete(learning, settings);
  if (ewn) {
    const learner = new LearnerEwn(await modules.kernels("learn-ewn"), learning, whole), curve = new EvaluationCurve();
    while (learner.games < games || curve.last === null || curve.json(1).games[0] < games) {
      const { lengths, evaluation } = learner.play(games);
      curve.add({ lengths, evaluations: evaluation ? [evaluation] : [], seconds: 0 });
    }
    answers.push({ curve: curve.json(10_000) });
    continue;
  }
  const learner = new Learner(await modules.kernels("learn"), learning, whole);
  const curve = new Curve();
  for (const { game, ...changed } of [...changes, { game: games }]) {
    while (learner.games < game) curve.add({ ...learner.play(game), seconds: 0 });
    if (game < games) learner.change(changed);
  }
  answers.push({ curve: curve.json(10_000), game: learner.game(7) });
}
console.log(JSON.stringify(answers));
