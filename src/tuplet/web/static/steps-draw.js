// Drawings of the page of the steps: small boards, and the backup diagram.
import { draw } from "./dom.js";

const narrow = matchMedia("(max-width: 560px)");
const CELL = 24, GAP = 2;
export const SIDE = 4 * CELL + 5 * GAP; // of a small board, in its own units

/** 12.35 or 1,234.6; `digits` of a number below 1,000. */
export function figure(number, digits = 2) {
  const shown = Math.abs(number) >= 1000 ? 1 : digits;
  const text = number.toLocaleString("en-GB", { minimumFractionDigits: shown, maximumFractionDigits: shown });
  return /^-0\.0*$/.test(text) ? text.slice(1) : text.replace("-", "−");
}

/** +1.20 or −1.20 */
export const change = (number, digits = 2) => (number > 0 ? "+" : "") + figure(number, digits);

/** A board as a group of SVG; `marks` are cells to emphasise, `fresh` the cell of a new tile. */
function boardGroup(tiles, { marks = [], fresh = -1, written = null } = {}) {
  const group = draw("g", { class: "small-board" },
    draw("rect", { class: "back", width: SIDE, height: SIDE, rx: 4 }));
  tiles.forEach((tile, cell) => {
    const x = GAP + (cell % 4) * (CELL + GAP), y = GAP + Math.floor(cell / 4) * (CELL + GAP);
    const marked = marks.includes(cell);
    const classes = [marks.length && !marked && "pale", cell === fresh && "fresh"].filter(Boolean).join(" ");
    group.append(draw("g", { class: classes || null, "data-tile": tile },
      draw("rect", { class: `cell${marked ? " marked" : ""}`, x, y, width: CELL, height: CELL, rx: 3 }),
      tile ? draw("text", { x: x + CELL / 2, y: y + CELL / 2, "data-digits": String(tile).length }, tile) : null));
    if (written?.[cell]) {
      written[cell].forEach((text, line) => group.append(draw("text", { class: "written", x: x + CELL / 2,
        y: y + CELL * (line + 0.5) / written[cell].length }, text)));
    }
  });
  return group;
}

const says = (tiles) => [0, 4, 8, 12].map((r) => tiles.slice(r, r + 4).map((t) => t || "empty").join(", ")).join("; ");

/** A small board as a picture. `written` has lines of text for empty cells: {5: ["2: 1.2", "4: 3.4"]}. */
export function smallBoard(tiles, label, options = {}) {
  return draw("svg", { class: "board-picture", viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img",
    "aria-label": `${label}, row by row: ${says(tiles)}` }, boardGroup(tiles, options));
}

/**
 * The backup diagram: three boards with what happens between them, and an arrow from the target to the value that
 * moves. `boards` are [{tiles, name, value, fresh}], `links` the two texts between them, `learned` and `aim` the
 * numbers of the board whose value moves and of the one it moves towards; `over` crosses the last one out.
 */
export function backup({ boards, links, learned, aim, target, over }) {
  const wide = !narrow.matches, gap = wide ? 84 : 54, margin = wide ? 30 : 24;
  const step = SIDE + gap, top = 58, width = 2 * step + SIDE, height = top + SIDE + 46;
  const middle = (i) => i * step + SIDE / 2;
  const svg = draw("svg", { class: wide ? "backup" : "backup narrow",
    viewBox: `${-margin - (3 - boards.length) * step / 2} 0 ${width + 2 * margin} ${height}`, role: "img",
    "aria-label": `${boards.map(({ name, value }) => `${name}${value ? `, ${value}` : ""}`).join("; then ")}. `
      + `The target is ${target}.` });
  svg.append(draw("defs", {}, draw("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 5,
    markerHeight: 5, orient: "auto-start-reverse" }, draw("path", { d: "M0 0 8 4 0 8z" }))));
  boards.forEach(({ tiles, name, value, fresh = -1 }, i) => {
    const kind = i === learned ? "learned" : i === aim ? "aim" : "";
    const group = draw("g", { class: kind, transform: `translate(${i * step} ${top})` }, boardGroup(tiles, { fresh }),
      draw("rect", { class: "frame", x: -2, y: -2, width: SIDE + 4, height: SIDE + 4, rx: 6 }));
    if (over && i === boards.length - 1) {
      group.append(draw("path", { class: "crossed", d: `M8 8L${SIDE - 8} ${SIDE - 8}M${SIDE - 8} 8L8 ${SIDE - 8}` }));
    }
    svg.append(group, draw("text", { class: "name", x: middle(i), y: top + SIDE + 20 }, name));
    if (value) svg.append(draw("text", { class: `value ${kind}`, x: middle(i), y: top + SIDE + 40 }, value));
  });
  links.forEach((lines, i) => {
    const from = i * step + SIDE + 6, y = top + SIDE / 2;
    svg.append(draw("path", { class: "way", d: `M${from} ${y}H${from + gap - 14}`, "marker-end": "url(#tip)" }));
    lines.forEach((line, n) => svg.append(draw("text", { class: n ? "reward" : "link", x: from + gap / 2 - 6,
      y: n ? y + 20 : y - 10 }, line)));
  });
  const [a, b] = [middle(aim), middle(learned)];
  svg.append(draw("path", { class: "arc", d: `M${a} ${top - 6}C${a} 12 ${b} 12 ${b} ${top - 6}`,
    "marker-end": "url(#tip)" }), draw("text", { class: "target", x: (a + b) / 2, y: 16 }, target));
  return svg;
}
