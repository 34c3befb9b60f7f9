// One side of the page of the steps: a move or an update of one kind of values (states or after-states), as panels.
import { counted, make } from "./dom.js";
import { predict } from "./lesson.js";
import { backup, change, figure, smallBoard } from "./steps-draw.js";

const ARROWS = { up: "↑", right: "→", down: "↓", left: "←" };
const PLACES = ["up", "left", "right", "down"]; // in the order of reading
const TARGET = { afterstate: "after-state values", state: "state values" };

const panel = (name, title, ...inside) => make("section", { class: `panel stack ${name}`, "aria-label": title },
  make("h3", {}, title), ...inside);
const muted = (...inside) => make("p", { class: "small muted" }, ...inside);
const math = (text) => make("span", { class: "math" }, text);

export class Side {
  #element = make("div", { class: "side stack" });
  #homework = {};
  #chosen; // called with {move} or {tuple, placement} when a person selects one
  #last = null;
  #open = new Map([["choose", true], ["learn", true]]); // panels whose lines of the course's program are shown
  #more = ""; // what the course's program does not have

  constructor(target, onChoose) {
    this.target = target;
    this.#chosen = onChoose;
  }

  get element() {
    return this.#element;
  }

  /** The functions of examples/homework.py, once they have come. */
  set homework(functions) {
    this.#homework = functions;
    if (this.#last) this.show(...this.#last);
  }

  /** Show an event of a game: {phase: "play" or "learn", number}. `looks` has what is selected. */
  show(answer, event, looks) {
    this.#last = [answer, event, looks];
    const extra = [answer.learner === "tc" && "TC", answer.lam > 0 && "λ", answer.order === "forward"
      && "learning during the game"].filter(Boolean);
    this.#more = extra.length && event.phase === "learn"
      ? `It learns by TD(0), from the end: it has no ${extra.join(", no ")}.` : "";
    const at = answer.steps.findIndex(({ number }) => number === event.number), step = answer.steps[at];
    const parts = event.phase === "play" ? this.#play(answer, step, looks) : this.#learn(answer, at, looks);
    const focus = document.activeElement;
    const kept = focus && this.#element.contains(focus) ? focus.getAttribute("data-key") : null;
    this.#element.replaceChildren(make("h2", { class: "visually-hidden" }, TARGET[this.target]), ...parts);
    if (kept) this.#element.querySelector(`[data-key="${kept}"]`)?.focus();
    this.#element.dataset.shown = `${event.phase} ${event.number}`;
  }

  /** The lines of functions; `key` names the panel, which stays as open as it was left. */
  #code(key, ...names) {
    const known = names.filter((name) => this.#homework[name]);
    const toggled = (event) => this.#open.set(key, event.target.open);
    return make("details", { class: "code", open: this.#open.get(key), ontoggle: toggled },
      make("summary", {}, "In examples/homework.py: ",
        known.flatMap((name, i) => [i ? ", " : "", make("code", {}, name)])),
      this.#more ? make("p", { class: "small muted" }, this.#more) : null,
      known.map((name) => make("pre", { tabindex: "0", "aria-label": name, "data-function": name },
        make("span", { class: "muted" }, `# line ${this.#homework[name].line}\n`), this.#homework[name].text)));
  }

  #kind() {
    return this.target === "state" ? "StateLearner" : "AfterstateLearner";
  }

  /** The four after-states around the board. */
  #play(answer, step, looks) {
    const states = this.target === "state";
    const legal = step.choices.filter((each) => each.legal), shown = looks.move ?? step.best;
    const boards = legal.reduce((sum, each) => sum + (states ? each.outcomes.length : 1), 0);
    const answers = [];
    const card = (move) => {
      const { legal: can, reward, tiles, value, sum } = step.choices.find((each) => each.move === move);
      const best = move === step.best;
      if (!can) {
        return make("div", { class: `card ${move} off` }, make("b", {}, `${ARROWS[move]} ${move}`), "changes nothing");
      }
      const sums = make("div", { class: "sums" }, make("span", { class: "math" }, states ? "r + E V(s″)" : "r + V(s′)"),
        make("span", { class: "number" }, `${reward} + ${figure(value)}`),
        make("b", { class: "number", "data-sum": sum }, `= ${figure(sum)}`));
      answers.push(sums);
      return make("button", { class: `card ${move}${best ? " best" : ""}`, "data-move": move, "data-key": move,
        "aria-pressed": states && shown === move ? "true" : null, onclick: () => this.#chosen({ move }) },
      make("b", {}, `${ARROWS[move]} ${move}`, best ? make("span", { class: "is-best" }, " is the best") : null),
      smallBoard(tiles, `s′ after ${move}`), sums);
    };
    const centre = make("figure", { class: "card middle" }, make("figcaption", {}, math("s"), ", the board now"),
      smallBoard(step.tiles, "s"));
    const cross = make("div", { class: "cross" }, centre, ...PLACES.map(card));
    const forced = step.move !== step.best
      ? muted(`Here the game goes on with ${step.move}: it is the game of the other side.`) : null;
    const cost = make("p", { class: "cost" }, make("b", { "data-boards": boards }, counted(boards, "board")),
      ` valued for this move, with ${counted(boards * step.look_ups.length, "look-up")}.`,
      states ? ` After-state values would need ${legal.length}.` : "");
    const question = make("div", {});
    const main = panel("choose", states ? "Choose by state values" : "Choose by after-state values",
      muted(states
        ? "V is known for boards on which the player moves. After a slide a tile appears, so it takes the average of V "
          + "over every tile that may come, adds the reward r, and plays the largest sum."
        : "V is known for boards just after a slide. So it slides the four ways, adds the reward r to V of each, and "
          + "plays the largest sum. What tile comes next is already part of V."),
      question, cross, cost, forced, this.#code("choose", `${this.#kind()}.best_move`, "legal_moves"));
    const parts = [main];
    if (states) {
      const next = this.#next(step.choices.find((each) => each.move === shown && each.legal) ?? legal[0]);
      parts.push(next);
      answers.push(next);
    }
    answers.push(...(forced ? [forced] : []));
    cross.classList.remove("guess");
    predict(answers, { at: question, question: "Which move does it play?",
      choices: Object.fromEntries(legal.map(({ move }) => [move, `${ARROWS[move]} ${move}`])), answer: step.best })
      .then(() => cross.classList.remove("guess"));
    cross.classList.toggle("guess", question.childElementCount > 0);
    return parts;
  }

  /** Every tile that may come after a move. */
  #next({ move, reward, tiles, value, sum, outcomes }) {
    const written = {};
    for (const each of outcomes) (written[Number(each.outcome.split("@")[1])] ??= []).push(figure(each.value, 1));
    const shares = [2, 4].map((tile) => outcomes.filter((each) => each.outcome.startsWith(`${tile}@`)))
      .filter((list) => list.length).map((list) => `${list.length} boards with a ${list[0].outcome[0]}, `
        + `probability ${(100 * list[0].probability).toFixed(2)} % each`);
    return panel("next", `What may come after ${move}`,
      make("div", { class: "beside" }, smallBoard(tiles, `s′ after ${move}, with V(s″) of each tile that may come`,
        { written }),
      make("div", { class: "stack close" },
        muted("In each empty cell: V(s″) if a 2 appears there, and if a 4 does. 0.0 where the game would be over."),
        make("p", {}, shares.join("; ")),
        make("p", {}, math("E V(s″) = "), make("b", { class: "number" }, figure(value)), math(", r + E V(s″) = "),
          `${reward} + ${figure(value)} = `, make("b", { class: "number" }, figure(sum))))),
      this.#code("next", "StateLearner.state_value", "put"));
  }

  /** The update of a board's value: the backup diagram, the numbers, the entries. */
  #learn(answer, at, looks) {
    const { steps, alpha, lam, order, learner, end } = answer, states = this.target === "state";
    const step = steps[at], later = steps[at + 1], over = !later;
    const nextTiles = later ? later.tiles : end, fresh = Number(step.outcome.split("@")[1]);
    const v = (number) => `V = ${figure(number)}`;
    const moved = `V = ${figure(step.before)} → ${figure(step.updated)}`;
    const tile = `+ a ${step.outcome[0]}`;
    const slid = (one) => [`${ARROWS[one.move]} ${one.move}`, `r = ${one.reward}`];
    const learned = states ? "s" : "s′", aim = states ? "s″" : "s′ next";
    const reward = states ? step.reward : later?.reward ?? 0;
    const boards = states
      ? [{ tiles: step.tiles, name: "s", value: moved }, { tiles: step.after, name: "s′" },
        { tiles: nextTiles, name: over ? "s″, the end" : "s″", value: v(step.following), fresh }]
      : [{ tiles: step.after, name: "s′", value: moved },
        { tiles: nextTiles, name: over ? "the end" : "s″", fresh, value: over ? v(0) : "" },
        ...(over ? [] : [{ tiles: later.after, name: "s′ next", value: v(step.following) }])];
    const links = states ? [slid(step), [tile]] : over ? [[tile]] : [[tile], slid(later)];
    const mixed = lam > 0 && later;
    const target = `target ${figure(step.target)}`;
    const diagram = backup({ boards, links, learned: 0, aim: boards.length - 1, over, target });
    const words = over
      ? `The game ended here: nothing more was earned${states ? " after this move" : ""}, so V of the end is 0.`
      : `${states ? "This" : "The next"} move earned ${reward}, and ${states ? "the next state" : "the board after it"}`
        + ` is worth ${figure(step.following)}, ${order === "backward" ? "just updated" : "before its own update"}.`;
    const share = mixed ? `${reward} + ${figure(1 - lam, 1)} · ${figure(step.following)} + ${figure(lam, 1)} · `
      + `${figure(later.target)}` : `${reward} + ${figure(step.following)}`;
    const line = (label, formula, numbers, result, key) => [make("dt", {}, label), make("dd", {}, math(formula)),
      make("dd", { class: "number" }, numbers), make("dd", { class: "number strong", [`data-${key}`]: result },
        key === "error" ? change(result) : figure(result))];
    const numbers = make("dl", { class: "formula" },
      ...line("target", `${states ? "r" : "r next"} + ${mixed ? `(1−λ) V(${aim}) + λ z` : `V(${over ? "end" : aim})`}`,
        share, step.target, "target"),
      ...line("error δ", `target − V(${learned})`, `${figure(step.target)} − ${figure(step.before)}`, step.error,
        "error"),
      ...line(`new V(${learned})`, learner === "tc" ? "each weight += rate · α/m · δ" : `V(${learned}) + α δ`,
        learner === "tc" ? `${figure(step.before)} ${change(step.updated - step.before)}`
          : `${figure(step.before)} + ${alpha} · ${figure(step.error)}`, step.updated, "updated"));
    const doubled = step.look_ups.filter((each) => each.times > 1).length;
    const notes = [];
    if (mixed) notes.push(`z = ${figure(later.target)} is the target of the board after it.`);
    if (learner === "tc") {
      const mean = step.look_ups.reduce((sum, each) => sum + each.rate, 0) / step.look_ups.length;
      notes.push(`TC: each weight takes its own rate of the update, here ${figure(mean)} on average.`);
    }
    if (doubled) {
      notes.push(`${doubled} of the ${step.look_ups.length} look-ups share an entry with another (the board mirrors `
        + `itself). Such an entry is changed once for each${learner === "td" ? ", so V moves further than α δ" : ""}.`);
    }
    const question = make("div", {}), entries = this.#entries(answer, step, looks);
    const key = muted(`Thick frame: the board whose value moves. Dashed frame: the board whose value it moves towards${
      over ? "" : ", with the reward on the way"}.`);
    const main = panel("learn", `Learn V(${learned})`, muted(words), question, diagram, key, numbers,
      notes.length ? muted(notes.join(" ")) : null, this.#code("learn", `${this.#kind()}.update_episode`));
    const way = step.error > 0 ? "rises" : step.error < 0 ? "falls" : "stays";
    predict([diagram, numbers, entries, ...main.querySelectorAll("p")], { at: question,
      question: `V(${learned}) was ${figure(step.before)}. The ${states ? "" : "next "}reward was ${reward} and `
        + `V(${over ? "end" : aim}) is ${figure(step.following)}. What happens to V(${learned})?`,
      choices: { rises: "it rises", falls: "it falls", stays: "it stays" }, answer: way });
    return [main, entries];
  }

  /** The look-ups of one tuple: eight small boards, one enlarged, and a table. */
  #entries(answer, step, { tuple = 0, placement = 0 }) {
    const { tuples, learner } = answer, tiles = this.target === "state" ? step.tiles : step.after;
    const chosen = Math.min(tuple, tuples.length - 1), own = step.look_ups.filter((each) => each.tuple === chosen);
    const sum = (list, key) => list.reduce((total, each) => total + each[key], 0);
    const pick = make("div", { class: "row", role: "group", "aria-label": "Tuples" }, tuples.map(([cells], number) => {
      const list = step.look_ups.filter((each) => each.tuple === number);
      return make("button", { class: "small", "data-key": `tuple ${number}`, "aria-pressed": String(number === chosen),
        onclick: () => this.#chosen({ tuple: number, placement: 0 }) },
      make("code", {}, cells.map((cell) => cell.toString(16)).join("")),
      make("span", { class: "muted number" }, change(sum(list, "after") - sum(list, "before"))));
    }));
    const placed = tuples[chosen], at = own[placement] ?? own[0], cells = placed[at.placement];
    const small = make("div", { class: "eight", role: "group", "aria-label": "The eight placements" },
      placed.map((each, number) => make("button", { class: "placement", "data-key": `placement ${number}`,
        "aria-pressed": String(number === at.placement), "aria-label": `Placement ${number + 1}`,
        onclick: () => this.#chosen({ placement: number }) },
      smallBoard(tiles, `Placement ${number + 1}`, { marks: each }))));
    const exponents = at.tiles.map((tile) => (tile ? Math.log2(tile) : 0));
    const large = make("div", { class: "beside" },
      smallBoard(tiles, `Placement ${at.placement + 1} of the tuple`, { marks: cells }),
      make("dl", { class: "look-up" },
        make("dt", {}, "tiles on these cells"), make("dd", {}, at.tiles.join(" ")),
        make("dt", {}, "as exponents"), make("dd", {}, exponents.join(" ")),
        make("dt", {}, "index, four bits each, the first cell lowest"),
        make("dd", { class: "number", "data-index": at.index },
          `0x${at.index.toString(16).padStart(cells.length, "0")} = ${at.index}`),
        make("dt", {}, "weight there"),
        make("dd", { class: "number strong" }, `${figure(at.before, 3)} → ${figure(at.after, 3)}`)));
    const head = ["", "tiles", "index", "weight", "change", ...(learner === "tc" ? ["E", "A", "rate"] : [])];
    const rows = own.map((each) => make("tr", { class: each.placement === at.placement ? "chosen" : null,
      "data-placement": each.placement },
    make("td", { class: "number" }, each.placement + 1), make("td", { class: "text number" }, each.tiles.join(" ")),
    make("td", { class: "number" }, `0x${each.index.toString(16)}${each.times > 1 ? ` ×${each.times}` : ""}`),
    make("td", { class: "number", "data-before": each.before, "data-after": each.after },
      `${figure(each.before, 3)} → ${figure(each.after, 3)}`),
    make("td", { class: "number" }, change(each.after - each.before, 3)),
    each.sums ? [make("td", { class: "number" }, `${figure(each.sums[0])} → ${figure(each.sums[2])}`),
      make("td", { class: "number" }, `${figure(each.sums[1])} → ${figure(each.sums[3])}`),
      make("td", { class: "number" }, figure(each.rate))] : []));
    return panel("entries", "The table entries",
      muted(`V is a sum of ${counted(step.look_ups.length, "look-up")}: ${counted(tuples.length, "tuple")}, each in `
        + "eight placements that share one table. The update is divided among them. Beside each tuple: how much its "
        + "part of V changed."),
      pick, small, large,
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The entries of this tuple" },
        make("table", {}, make("thead", {}, make("tr", {}, head.map((text, i) =>
          make("th", { class: i === 1 ? "text" : null, scope: "col" }, text)))), make("tbody", {}, rows))),
      this.#code("entries", "indexof", "isomorphs", "Pattern.estimate", "Pattern.update"));
  }
}
