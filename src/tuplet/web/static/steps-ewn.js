// The page of the steps for EWN: win probabilities and the die, as panels.
import { draw, make, percent } from "./dom.js";
import { predict } from "./lesson.js";

const CELL = 24;
const share = (number) => percent(number, 1);
const panel = (name, title, ...inside) => make("section", { class: `panel stack ${name}`, "aria-label": title },
  make("h3", {}, title), ...inside);
const muted = (...inside) => make("p", { class: "small muted" }, ...inside);
const weight = (number) => number.toFixed(4).replace("-", "−");
const change = (number) => (number > 0 ? "+" : "") + weight(number);
const moved = (number) => `${number > 0 ? "+" : "−"}${Math.abs(100 * number).toFixed(1)} %`;

/** A small board: cells are rows of texts, r1 is Red's cube 1. `marks` are squares to emphasise, by number. */
function smallBoard(cells, label, marks = []) {
  const [rows, columns] = [cells.length, cells[0].length];
  const svg = draw("svg", { class: "board-picture ewn-picture", viewBox: `0 0 ${columns * CELL} ${rows * CELL}`,
    role: "img", "aria-label": `${label}, row by row: ${cells.map((row) =>
      row.map((cube) => cube || "empty").join(", ")).join("; ")}` });
  cells.forEach((row, r) => row.forEach((cube, c) => {
    const marked = marks.includes(r * columns + c);
    svg.append(draw("rect", { class: `square${marked ? " marked" : marks.length ? " pale" : ""}`, x: c * CELL + 1,
      y: r * CELL + 1, width: CELL - 2, height: CELL - 2, rx: 3 }));
    if (!cube) return;
    svg.append(draw("rect", { class: cube[0] === "r" ? "red" : "blue", x: c * CELL + 4, y: r * CELL + 4,
      width: CELL - 8, height: CELL - 8, rx: 4 }),
    draw("text", { x: (c + .5) * CELL, y: (r + .5) * CELL }, cube.slice(1)));
  }));
  return svg;
}

export class EwnSide {
  #element = make("div", { class: "side stack ewn-side" });
  #chosen;

  constructor(onChoose) {
    this.target = "ewn";
    this.#chosen = onChoose;
  }

  get element() {
    return this.#element;
  }

  show(answer, event, looks) {
    const step = answer.steps[event.number];
    this.#element.replaceChildren(make("h2", { class: "visually-hidden" }, "EWN"),
      ...(event.phase === "play" ? this.#play(step) : this.#learn(answer, step, looks)));
    this.#element.dataset.shown = `${event.phase} ${event.number}`;
  }

  /** The six faces of the die, each with its best move. */
  #play(step) {
    const { turn, rolls, outcome, expected } = step;
    const cards = rolls.map((roll) => make("div", { class: `card${roll.outcome === outcome ? " best" : ""}`,
      "data-face": roll.outcome }, make("b", {}, `${roll.outcome}`, roll.outcome === outcome ? " was rolled" : ""),
    smallBoard(roll.cells, `after ${roll.best}`), make("span", { class: "sums" }, `best: ${roll.best}`,
      make("b", { class: "number", "data-value": roll.value },
        roll.winner ? `${roll.winner} wins` : share(roll.value)))));
    return [panel("choose", `${turn} is about to roll`,
      muted("V(s) is the probability that the side to move wins, before the die is rolled. For each face it looks at "
        + "every move and takes the best: what a move is worth is 1 − V of the board after it, where the other side "
        + "is about to roll."),
      make("div", { class: "beside" }, smallBoard(step.cells, `s, ${turn} to move`),
        make("div", { class: "stack close" },
          make("p", {}, "The mean of the six faces: ", make("b", { class: "number", "data-expected": expected },
            share(expected)), ` that ${turn} wins. V(s) will be moved towards it.`),
          muted(step.random ? `To explore, it played ${step.move}, a random move, and not the best one.`
            : `It played ${step.move}, the best move for ${outcome}.`)))),
    panel("faces", "The six faces, and the best move for each", make("div", { class: "six" }, cards))];
  }

  #learn({ alpha, lam, learner, winner }, step, { placement = 0 }) {
    const { before, target, error, updated, expected, rest, turn } = step, mixed = lam > 0 && !step.random;
    const line = (label, formula, result, key, text) => [make("dt", {}, label),
      make("dd", {}, make("span", { class: "math" }, formula)), make("dd", {}),
      make("dd", { class: "number strong", [`data-${key}`]: result }, text)];
    const numbers = make("dl", { class: "formula" },
      ...line("target", mixed ? "(1−λ) mean of the six faces + λ (rest of the game)" : "mean of the six faces", target,
        "target", share(target)),
      ...line("error δ", "target − V(s)", error, "error", moved(error)),
      ...line("new V(s)", "log-odds of V(s) + 4 α δ, shared by the weights", updated, "updated", share(updated)));
    const bar = (value, name) => make("div", { class: "win" }, make("span", { class: "small muted" }, name),
      make("div", { class: "bar best", vars: { "--share": value } }, make("i", {})), share(value));
    const question = make("div", {}), bars = make("div", { class: "stack close" }, bar(before, "V(s) before"),
      bar(target, "target"), bar(updated, "V(s) after"));
    const parts = this.#parts(step, learner, placement);
    const main = panel("learn", "Learn V(s)",
      muted(`${winner} won this game. ${mixed ? `What came after is worth ${share(rest)} to ${turn}. ` : ""}`
        + `α = ${alpha}, λ = ${lam}${step.random ? "; after a random move only the six faces count" : ""}. `
        + `The mean of the six faces was ${share(expected)}.`),
      question, make("div", { class: "beside" }, smallBoard(step.cells, `s, ${turn} to move`), bars), numbers);
    predict([bars, numbers, parts, ...main.querySelectorAll("p")], { at: question,
      question: `V(s) was ${share(before)}, and the mean of the six faces is ${share(expected)}. What happens to V(s)?`,
      choices: { rises: "it rises", falls: "it falls", stays: "it stays" },
      answer: ["falls", "stays", "rises"][Math.sign(error) + 1] });
    return [main, parts];
  }

  /** The table entries, with the squares of one of them. */
  #parts(step, learner, placement) {
    const chosen = Math.min(placement, step.parts.length - 1), { cells: marks } = step.parts[chosen];
    const rows = step.parts.map((part, number) => make("tr", { class: number === chosen ? "chosen" : null },
      make("td", { class: "text" }, make("button", { class: "link", "data-key": `part ${number}`,
        onclick: () => this.#chosen({ placement: number }) }, part.cells.length ? part.cells.join("-") : part.name)),
      make("td", { class: "number", "data-before": part.before, "data-after": part.after },
        `${weight(part.before)} → ${weight(part.after)}`),
      make("td", { class: "number" }, change(part.after - part.before)),
      learner === "tc" ? make("td", { class: "number" }, part.rate.toFixed(2)) : null));
    return panel("entries", "The table entries",
      muted("The log-odds of V are a sum of weights: one for each placement of a tuple of squares, and one for each "
        + "feature, such as the race."),
      make("div", { class: "beside" }, smallBoard(step.cells, "The squares of the entry", marks),
        make("p", { class: "small muted" }, "Choose an entry to see its squares.")),
      make("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": "The entries" },
        make("table", {}, make("thead", {}, make("tr", {}, ["squares or feature", "weight", "change",
          ...(learner === "tc" ? ["rate"] : [])].map((text, i) =>
          make("th", { scope: "col", class: i ? null : "text" }, text)))), make("tbody", {}, rows))));
  }
}
