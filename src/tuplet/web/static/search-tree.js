// The tree of a search as nodes and edges, from left to right: as it stands in a phase of a simulation.
import { count, draw, percent } from "./dom.js";
import { face } from "./ewn-die.js";
import { tint } from "./ewn-tree.js";
import { inParts } from "./ewn-words.js";

// Pixels: between levels and rows, around the tree, and the least and the largest radius.
const FULL = { step: 116, row: 27, margin: 26, left: 46, label: 132, radius: [4, 15] };
const SMALL = { step: 44, row: 9, margin: 12, left: 12, label: 8, radius: [2, 9] };
const LEAVES = 32; // that are drawn

/** The nodes of a tree at a phase (0 select, 1 expand, 2 simulate, 3 back up) of a step, by number. */
export function grow(answer, at, phase) {
  const nodes = new Map(answer.tree.map((each) => [each.node, { ...each }]));
  for (const step of answer.steps.slice(0, at + 1)) {
    const whole = step.number < at;
    if (whole || phase >= 1) {
      for (const each of step.expanded) nodes.set(each.node, { ...each, visits: 0, value: null, proven: null });
    }
    if (!whole && phase < 3) continue;
    for (const { node, visits, value, proven } of step.backup) {
      Object.assign(nodes.get(node), { visits: visits[1], value: value[1], proven });
    }
  }
  return nodes;
}

/** The children of each node that has some. */
export function childrenOf(nodes) {
  const below = new Map();
  for (const each of nodes.values()) {
    if (each.parent !== null) below.set(each.parent, [...(below.get(each.parent) ?? []), each]);
  }
  return below;
}

/** What leads to a node: a cube and an arrow, or a roll of the die. */
export function label(node, nodes) {
  if (node.parent === null) return "root";
  if (node.chance !== null) return `die ${node.move}`;
  const { cube, arrow } = inParts(nodes.get(node.parent).side, node.move);
  return `${cube}${arrow}`;
}

/** A node's figures in few characters. */
export const figures = ({ visits, value, proven }) =>
  (proven !== null ? `${count(visits)} · ${proven === 1 ? "won" : proven === 0 ? "lost" : "drawn"}`
    : value === null ? count(visits) : `${count(visits)} · ${percent(value, 0)}`);

/** The nodes whose children are drawn: those on the path, then the most visited ones, as far as there is room. */
function opened(below, path) {
  const open = new Set([0, ...path].filter((node) => below.has(node)));
  const visible = () => [...open].flatMap((node) => below.get(node));
  for (;;) {
    const leaves = visible().filter((each) => !open.has(each.node));
    const next = leaves.filter((each) => below.has(each.node)).sort((a, b) => b.visits - a.visits)
      .find((each) => leaves.length - 1 + below.get(each.node).length <= LEAVES);
    if (!next) return open;
    open.add(next.node);
  }
}

/**
 * Draw a tree. `path` are the nodes of the simulation, `fresh` those it has added, `played` those it has simulated,
 * `changed` those whose numbers have changed, `side` moves at the root; `onNode(node)` is called for one of the path.
 * Without `onNode` the tree is small, and has no numbers.
 */
export function drawTree(host, nodes, { path, fresh = new Set(), played = new Set(), changed = new Set(), side,
  current = null, onNode = null }) {
  const { step, row, margin, left, label: room, radius: [least, largest] } = onNode ? FULL : SMALL;
  const below = childrenOf(nodes), open = opened(below, path);
  const most = Math.max(nodes.get(0).visits, 1), places = new Map();
  let rows = 0, deepest = 0;
  const place = (node, level) => {
    deepest = Math.max(deepest, level);
    const own = open.has(node.node) ? below.get(node.node) : [];
    const ys = own.map((child) => place(child, level + 1));
    const y = ys.length ? (ys[0] + ys.at(-1)) / 2 : rows++ * row;
    places.set(node.node, { x: left + level * step, y: y + margin, level, leaf: !ys.length });
    return y;
  };
  place(nodes.get(0), 0);
  const wide = left + deepest * step + room, tall = (rows - 1) * row + 2 * margin;
  const edges = draw("g", {}), ways = draw("g", { class: "way" }), marks = draw("g", {});
  for (const [number, { x, y, level, leaf }] of places) {
    const node = nodes.get(number), inPath = path.includes(number);
    const r = least + (largest - least) * Math.sqrt(node.visits / most);
    if (node.parent !== null) {
      const from = places.get(node.parent), middle = (from.x + x) / 2;
      const d = `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${y} ${x} ${y}`;
      edges.append(draw("path", { d, class: fresh.has(number) ? "fresh" : "" }));
      if (inPath) ways.append(draw("path", { d }));
    }
    const text = `${label(node, nodes)}: ${figures(node)}`;
    const words = `${label(node, nodes)}, ${count(node.visits)} visits`
      + `${node.value === null ? "" : `, ${percent(node.value)} for ${side}`}`;
    const name = ["node", node.side || "over", inPath && "in-path", fresh.has(number) && "fresh",
      changed.has(number) && "changed", number === current && "current"].filter(Boolean).join(" ");
    const mark = draw("g", { class: name, "data-node": number, "data-visits": node.visits,
      vars: { "--tint": tint(node.value, side) } }, draw("title", { text: words }));
    if (inPath && onNode) {
      const go = () => onNode(number);
      for (const [key, value] of Object.entries({ role: "button", tabindex: 0, "aria-label": words,
        "aria-pressed": number === current })) mark.setAttribute(key, value);
      mark.addEventListener("click", go);
      mark.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        go();
      });
    }
    if (node.side === "chance") {
      const die = face(null, null), size = 2 * Math.max(r, largest / 2);
      for (const [key, value] of Object.entries({ x: x - size / 2, y: y - size / 2, width: size, height: size })) {
        die.setAttribute(key, value);
      }
      mark.append(die);
    } else mark.append(draw("circle", { cx: x, cy: y, r }));
    if (played.has(number)) mark.append(draw("circle", { class: "played", cx: x, cy: y, r: r + 4 }));
    const high = y - Math.max(r, 8) - 4;
    if (onNode) {
      mark.append(leaf ? draw("text", { x: x + Math.max(r, 8) + 6, y: y + 4, text })
        : draw("text", { x: level ? x : 6, y: high, "text-anchor": level ? "middle" : "start", text }));
    }
    marks.append(mark);
  }
  host.replaceChildren(draw("svg", { class: onNode ? "search-tree" : "search-tree small-tree",
    "aria-hidden": onNode ? null : "true", viewBox: `0 0 ${wide} ${tall}`,
    vars: { "--wide": `${wide}px` } }, edges, ways, marks));
}
