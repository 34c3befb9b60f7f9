"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const draw = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const CELL = 56, SHOWN = 400;
  const { agents, games, rows, columns, pieces } = data;
  const sides = data.sides.map((side) => side.charAt(0).toUpperCase() + side.slice(1));
  let current = null, ply = 0, timer = null;

  // A game is [number, first, second, winner, kind, reason, start, plies]; a ply is
  // [move, die, cell, text, cell, text, ...]: what changes on the board.
  const boardAfter = (game, count) => {
    const cells = game[6].slice();
    for (const step of game[7].slice(0, count))
      for (let i = 2; i < step.length; i += 2) cells[step[i]] = step[i + 1];
    return cells;
  };

  const show = () => {
    const [number, first, second, winner, kind, reason, , plies] = current;
    const cells = boardAfter(current, ply), last = ply ? plies[ply - 1] : null;
    const svg = draw("svg", { viewBox: `0 0 ${columns * CELL + 4} ${rows * CELL + 4}`, role: "img" });
    svg.append(draw("title", {}, `Game ${number}, after ${ply} moves`));
    cells.forEach((text, at) => {
      const x = 2 + (at % columns) * CELL, y = 2 + Math.floor(at / columns) * CELL;
      const goal = !data.corners ? "" : at === 0 ? " blue" : at === cells.length - 1 ? " red" : "";
      svg.append(draw("rect", { x, y, width: CELL, height: CELL, class: `square${goal}` }));
      const changed = last ? last.indexOf(at, 2) : -1;
      if (changed > 1 && changed % 2 === 0)
        svg.append(draw("rect", { x: x + 3, y: y + 3, width: CELL - 6, height: CELL - 6, rx: 9,
          class: text ? "mark" : "from" }));
      if (!text) return;
      const [label, side, colour] = pieces[text];
      const look = side ? { class: `piece ${side}` } : { class: "piece", fill: colour };
      svg.append(data.corners
        ? draw("rect", { x: x + 7, y: y + 7, width: CELL - 14, height: CELL - 14, rx: 8, ...look })
        : draw("circle", { cx: x + CELL / 2, cy: y + CELL / 2, r: CELL / 2 - 6, ...look }));
      svg.append(draw("text", { x: x + CELL / 2, y: y + CELL / 2 + 8, "font-size": 24 }, label));
    });
    find("board").replaceChildren(...(rows ? [svg] : []));
    find("a").textContent = agents[first];
    find("b").textContent = agents[second];
    const mover = sides[ply % 2];
    let text = `Game ${number}, move ${ply} of ${plies.length}. `;
    if (last) text += `${sides[(ply - 1) % 2]} played ${last[0]}${last[1] ? ` (die ${last[1]})` : ""}. `;
    if (ply === plies.length) {
      text += winner < 0 ? `Drawn (${kind}).` : `${agents[[first, second][winner]]} has won (${kind}).`;
      if (reason) text += ` ${reason}`;
    } else text += `${mover} is to move${plies[ply][1] ? `, die ${plies[ply][1]}` : ""}.`;
    find("state").textContent = text;
    find("ply").max = plies.length;
    find("ply").value = ply;
    for (const button of find("list").querySelectorAll("button"))
      button.setAttribute("aria-current", button.dataset.number === String(number));
  };

  const stop = () => { clearInterval(timer); timer = null; find("play").textContent = "▶ play"; };
  const go = (to) => {
    if (!current) return;
    ply = Math.max(0, Math.min(current[7].length, to));
    show();
  };
  const open = (game, at = 0) => { stop(); current = game; go(at); };
  find("start").onclick = () => { stop(); go(0); };
  find("back").onclick = () => { stop(); go(ply - 1); };
  find("on").onclick = () => { stop(); go(ply + 1); };
  find("end").onclick = () => { stop(); go(Infinity); };
  find("ply").oninput = (event) => { stop(); go(Number(event.target.value)); };
  find("play").onclick = () => {
    if (timer) return stop();
    if (!current) return;
    if (ply === current[7].length) go(0);
    find("play").textContent = "❚❚ pause";
    timer = setInterval(() => { go(ply + 1); if (ply === current[7].length) stop(); }, 700);
  };
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "SELECT") return;
    const to = { ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: Infinity }[event.key];
    if (to === undefined || event.target.type === "range") return;
    event.preventDefault();
    stop();
    go(to);
  });

  const list = () => {
    const [one, other, how] = ["one", "other", "how"].map((id) => find(id).value);
    const fits = games.filter((game) => {
      const [, first, second, , kind] = game, both = [String(first), String(second)];
      return (!one || both.includes(one)) && (!other || both.includes(other))
        && (!one || one !== other) && (!how || kind === how);
    });
    const buttons = fits.slice(0, SHOWN).map((game) => {
      const [number, first, second, winner, kind, , , plies] = game;
      const button = make("button");
      button.type = "button";
      button.dataset.number = number;
      const who = make("span", undefined, "who");
      who.append(make(winner === 0 ? "b" : "span", agents[first]), " – ",
        make(winner === 1 ? "b" : "span", agents[second]));
      button.append(make("span", number, "n"), who, make("span", `${kind}, ${plies.length}`, "how"));
      button.onclick = () => open(game);
      return button;
    });
    if (fits.length > SHOWN) buttons.push(make("div", `… and ${fits.length - SHOWN} more`, "empty"));
    find("list").replaceChildren(...(buttons.length ? buttons : [make("div", "No such game here.", "empty")]));
    return fits;
  };
  const fill = (id, all, values) => {
    find(id).append(new Option(all, ""), ...values.map(([text, value]) => new Option(text, value)));
    find(id).onchange = list;
  };
  const named = data.order.map((i) => [agents[i], String(i)]);
  fill("one", "everybody", named);
  fill("other", "against everybody", named);
  fill("how", "ended somehow", [...new Set(games.map((game) => game[4]))].sort().map((k) => [k, k]));
  for (const link of document.querySelectorAll("a[data-one]"))
    link.onclick = () => {
      find("one").value = link.dataset.one;
      find("other").value = link.dataset.other;
      find("how").value = "";
      const fits = list();
      if (fits.length) open(fits[0]);
    };
  for (const link of document.querySelectorAll("a[data-game]"))
    link.onclick = () => {
      const game = games.find((each) => String(each[0]) === link.dataset.game);
      if (game) open(game, Infinity);
    };
  const fits = list();
  if (fits.length) open(fits[0]);
  else find("replay").hidden = true;
})();
