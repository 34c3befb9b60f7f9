// The map of a search tree (width: visits, colour: value), and its outline, opened node by node.
import { onWidth } from "./chart.js";
import { count, draw, make, percent } from "./dom.js";
import { chip, inParts } from "./ewn-words.js";

const ROW = 26, GAP = 1.5; // pixels
const LEVELS = 7; // of the map
const LEAST = 2; // pixels of width that a node of the map has at least

const path = (key) => (key === "" ? [] : key.split("/"));
const result = (value, won, lost, drawn) => (value === 1 ? won : value === 0 ? lost : drawn);
const below = (key, move) => (key === "" ? move : `${key}/${move}`);

/** A value as a mix of the sides' colours. */
export function tint(value, side) {
  if (value === null) return "var(--map-even)";
  const red = side === "red" ? value : 1 - value;
  const far = Math.round(100 * Math.abs(2 * red - 1) ** 0.6); // most values are near the middle
  return `color-mix(in oklab, var(${red > 0.5 ? "--map-red" : "--map-blue"}) ${far}%, var(--map-even))`;
}

export class Tree {
  /** Calls `onSelect(path, go)`, and `onMissing(depth)` if the children of a node at this depth were not sent. */
  constructor(host, { onSelect, onMissing }) {
    this.host = host;
    this.onSelect = onSelect;
    this.onMissing = onMissing;
    this.map = make("div", { class: "ewn-map" });
    this.says = make("div", { class: "ewn-node small" });
    this.list = make("div", { class: "ewn-outline", role: "tree", "aria-label": "The tree, node by node",
      onkeydown: (event) => this.#key(event) });
    this.position = this.flip = null;
    this.reset();
    onWidth(this.map, () => { if (this.tree) this.#drawMap(); });
  }

  reset() {
    this.open = new Set([""]);
    this.selected = "";
    this.tree = null;
    this.host.replaceChildren();
  }

  show(tree, position, flip) {
    if (!tree) return;
    Object.assign(this, { tree, position, flip });
    if (!this.map.isConnected) {
      this.host.replaceChildren(this.map, make("div", { class: "ewn-legend tiny muted" },
        make("span", { text: "blue wins" }), make("i", { "aria-hidden": "true" }), make("span", { text: "red wins" }),
        make("span", { class: "grow" }), make("span", { text: "width: share of the visits" })), this.says, this.list);
    }
    this.#drawMap();
    this.#drawList();
    this.#describe();
  }

  node(key) {
    return path(key).reduce((at, move) => at?.children.find((child) => child.move === move), this.tree);
  }

  /** The selected node, or its nearest ancestor in the tree. */
  #here() {
    const moves = path(this.selected);
    while (!this.node(moves.join("/"))) moves.pop();
    return moves.join("/");
  }

  /** A node by what led to it, as an element. */
  #label(node, parent) {
    if (!parent) return make("span", { text: `${node.side} to move` });
    if (node.chance !== null) return make("span", { class: "ewn-rolled", text: `die ${node.move}` });
    return chip(parent.side, node.move, this.flip);
  }

  #text(node, parent) {
    if (!parent) return `${node.side} to move`;
    if (node.chance !== null) return `⚄ ${node.move}`;
    const { cube, arrow } = inParts(parent.side, node.move, this.flip);
    return `${cube}${arrow}`;
  }

  /** A row for each move and each roll; the children of a node share its width by visits. */
  #drawMap() {
    const cells = [], all = this.map.clientWidth || 600;
    let deepest = 0;
    const place = (node, parent, key, level, x, wide) => {
      if (level >= LEVELS || wide < LEAST) return;
      deepest = Math.max(deepest, level);
      cells.push({ node, parent, key, level, x, wide });
      const own = Math.max(node.visits, 1);
      let at = x;
      for (const child of node.children) {
        const part = wide * Math.min(child.visits / own, 1);
        place(child, node, below(key, child.move), level + 1, at, part);
        at += part;
      }
    };
    place(this.tree, null, "", 0, 0, all);
    const picture = draw("svg", { viewBox: `0 0 ${all} ${(deepest + 1) * ROW}`, role: "img",
      "aria-label": "Map of the tree: a row for each move and roll; the width of a node is its share of the visits. "
        + "The list below has the same nodes." });
    for (const { node, parent, key, level, x, wide } of cells) {
      const name = `node ${node.side || "over"} ${key === this.selected ? "selected" : ""}`;
      const cell = draw("g", { class: name, "data-path": key, onclick: () => this.#select(key, true),
        vars: { "--tint": tint(node.value, this.tree.side) } },
      draw("title", { text: this.#words(node, parent) }),
      draw("rect", { x: x + GAP / 2, y: level * ROW + GAP / 2, width: Math.max(wide - GAP, 1), height: ROW - GAP,
        rx: Math.min(4, wide / 3) }));
      const text = this.#text(node, parent);
      if (wide > 9 * text.length + 6) {
        cell.append(draw("text", { x: x + wide / 2, y: level * ROW + ROW / 2 + 5, "text-anchor": "middle", text }));
      }
      if (node.proven) cell.append(draw("circle", { class: "proven", cx: x + wide - 6, cy: level * ROW + 6, r: 2.5 }));
      picture.append(cell);
    }
    this.map.replaceChildren(picture);
  }

  /** The opened nodes, as lines. */
  #drawList() {
    const focused = this.list.contains(document.activeElement);
    const lines = [], all = Math.max(this.tree.visits, 1), here = this.#here();
    const add = (node, parent, key, level) => {
      const opened = this.open.has(key), more = node.children.length + node.left_out > 0;
      const line = make("div", {
        class: `line ${key === here ? "selected" : ""}`, role: "treeitem", "data-path": key,
        tabindex: key === here ? 0 : -1, "aria-level": level + 1, "aria-expanded": more ? String(opened) : null,
        "aria-selected": String(key === here), "aria-label": this.#words(node, parent), vars: { "--level": level },
        onclick: () => this.#select(key, true),
      },
      make("span", { class: "twist", "aria-hidden": "true", text: more ? (opened ? "▾" : "▸") : "" }),
      make("span", { class: "name" }, this.#label(node, parent)),
      make("span", { class: "width", "aria-hidden": "true" },
        make("i", { vars: { "--share": node.visits / all, "--tint": tint(node.value, this.tree.side) } })),
      make("span", { class: "number visits", "data-visits": node.visits, text: count(node.visits) }),
      make("span", { class: "number", text: node.value === null ? "–"
        : node.proven ? result(node.value, "won", "lost", "drawn") : percent(node.value) }));
      lines.push(line);
      if (!opened) return;
      for (const child of node.children) add(child, node, below(key, child.move), level + 1);
      if (!node.left_out || !node.children.length) return;
      lines.push(make("div", { class: "line more tiny", vars: { "--level": level + 1 }, role: "none",
        title: "Show them (+)", onclick: () => this.#more(key), text: `… ${count(node.left_out)} with fewer visits` }));
    };
    add(this.tree, null, "", 0);
    this.list.replaceChildren(...lines);
    if (focused) this.list.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  }

  #words(node, parent) {
    const value = node.value === null ? "no value yet"
      : `${node.proven ? `proven: ${percent(node.value, 0)}` : percent(node.value)} for ${this.tree.side}`;
    const who = parent && node.chance === null ? `${parent.side} ` : "";
    return `${who}${this.#text(node, parent)}: ${count(node.visits)} visits, ${value}`;
  }

  /** Describe the selected node. */
  #describe() {
    const here = this.#here(), node = this.node(here), moves = path(here), side = this.tree.side;
    const parent = this.node(moves.slice(0, -1).join("/"));
    const at = (length) => this.node(moves.slice(0, length).join("/"));
    const way = moves.map((_, i) => this.#label(at(i + 1), at(i)));
    const interval = node.ci95 ? ` (95 %: ${node.ci95.map((end) => (100 * end).toFixed(1)).join(" – ")})` : "";
    const rate = node.value === null ? "no result yet"
      : node.proven ? `proven: ${side} ${result(node.value, "wins", "loses", "draws")}`
        : `${side} won ${percent(node.value)} of them${interval}`;
    const next = node.side === "chance" ? "then the die is rolled"
      : node.side ? `then ${node.side} moves` : "the game is over";
    const likely = node.chance !== null && parent ? `, a roll with probability ${percent(node.chance)}` : "";
    this.says.replaceChildren(
      make("span", { class: "row" }, ...(way.length ? way : [make("b", { text: "The position on the board" })])),
      make("span", { class: "muted", text: `${count(node.visits)} simulations${likely}; ${rate}; ${next}.` }));
    if (!node.children.length && node.left_out) {
      this.says.append(make("span", { class: "tiny muted", text: "Only the most visited nodes are shown, none "
        + "of them below this one. Go to this position to search from here." }));
    }
    if (moves.length) {
      this.says.append(make("button", { type: "button", class: "link tiny", text: "Go to this position",
        onclick: () => this.onSelect(moves, true) }));
    }
  }

  #select(key, toggle) {
    const node = this.node(key);
    this.selected = key;
    path(key).forEach((_, i, all) => this.open.add(all.slice(0, i).join("/"))); // all above it
    if (toggle) {
      if (this.open.has(key) && key !== "" && node.children.length) this.open.delete(key);
      else this.#unfold(key, node);
    }
    this.show(this.tree, this.position, this.flip);
    this.list.querySelector(".selected")?.scrollIntoView({ block: "nearest" });
    this.onSelect(path(key), false);
  }

  #unfold(key, node) {
    this.open.add(key);
    if (!node.children.length && node.left_out) this.#more(key);
  }

  /** Request a tree that has all children of a node. */
  #more(key) {
    const moves = path(key).filter((_, i, all) => this.node(all.slice(0, i + 1).join("/")).chance === null);
    this.onMissing(moves.length);
  }

  #key(event) {
    const lines = [...this.list.querySelectorAll("[role=treeitem]")];
    const at = lines.findIndex((line) => line.dataset.path === this.selected);
    this.selected = this.#here();
    const node = this.node(this.selected);
    const consume = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    const go = (key) => {
      consume();
      this.#select(key, false);
      this.list.querySelector("[tabindex='0']")?.focus();
    };
    if (event.key === "ArrowDown" && lines[at + 1]) go(lines[at + 1].dataset.path);
    else if (event.key === "ArrowUp" && at > 0) go(lines[at - 1].dataset.path);
    else if (event.key === "Home") go("");
    else if (event.key === "+" && node.left_out) this.#more(this.selected);
    else if (event.key === "ArrowRight" && (node.children.length || node.left_out)) {
      if (this.open.has(this.selected) && node.children.length) go(below(this.selected, node.children[0].move));
      else {
        this.#unfold(this.selected, node);
        go(this.selected);
      }
    } else if (event.key === "ArrowLeft") {
      const closes = this.open.has(this.selected) && this.selected !== "" && node.children.length;
      if (closes) this.open.delete(this.selected);
      go(closes ? this.selected : path(this.selected).slice(0, -1).join("/"));
    } else if (event.key === "Enter" || event.key === " ") {
      consume();
      this.#select(this.selected, true);
    }
  }
}
