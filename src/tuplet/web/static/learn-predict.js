// Predict first: the viewer says how the curve will go before it is shown.
import { horizontalGrid, linear, short } from "./chart.js";
import { count, draw, make } from "./dom.js";

const AT = [1000, 5000, 20_000]; // games
const HIGH = 100_000; // points
const WIDTH = 560, HEIGHT = 220, LEFT = 46, RIGHT = 14, TOP = 12, AXIS = 22;

/** Three points of a curve, set with sliders or with the pointer. `done(guess)` is called with [[games, mean], …]. */
export function guessCurve(done) {
  const means = [5000, 15_000, 30_000];
  const x = linear(0, AT.at(-1), LEFT, WIDTH - RIGHT), y = linear(0, HIGH, HEIGHT - AXIS, TOP);
  const svg = draw("svg", { class: "curves learn-guess", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  const inputs = AT.map((games, i) => {
    const says = make("output", { class: "number" });
    const input = make("input", { type: "range", min: 0, max: HIGH, step: 1000, "aria-label":
      `Mean score after ${count(games)} games`, oninput: () => {
      means[i] = Number(input.value);
      show();
    } });
    input.value = means[i];
    return { input, says, field: make("label", { class: "field" },
      make("span", { class: "row apart" }, `after ${count(games)}`, says), input) };
  });
  const guess = () => AT.map((games, i) => [games, means[i]]);
  function show() {
    svg.replaceChildren();
    horizontalGrid(svg, [0, 25_000, 50_000, 75_000, HIGH], y, LEFT, WIDTH - RIGHT, short);
    for (const games of AT) {
      svg.append(draw("text", { x: x(games), y: HEIGHT - 4, "text-anchor": games === AT.at(-1) ? "end" : "middle",
        text: short(games) }));
    }
    const line = [[0, 0], ...guess()].map(([games, mean]) => `${x(games)} ${y(mean)}`);
    svg.append(draw("path", { class: "guess", d: `M${line.join("L")}` }),
      ...guess().map(([games, mean]) => draw("circle", { class: "guess", cx: x(games), cy: y(mean), r: 6 })));
    inputs.forEach(({ input, says }, i) => {
      input.value = means[i];
      input.setAttribute("aria-valuetext", `${count(means[i])} points`);
      says.textContent = count(means[i]);
    });
  }
  const drag = (event) => {
    if (!(event.buttons & 1)) return;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const nearest = AT.reduce((best, games, i) =>
      (Math.abs(x(games) - point.x) < Math.abs(x(AT[best]) - point.x) ? i : best), 0);
    const mean = (HEIGHT - AXIS - point.y) / (HEIGHT - AXIS - TOP) * HIGH;
    means[nearest] = Math.round(Math.min(Math.max(mean, 0), HIGH) / 1000) * 1000;
    show();
  };
  svg.addEventListener("pointerdown", drag);
  svg.addEventListener("pointermove", drag);
  show();
  return make("div", { class: "stack close" },
    make("p", { class: "small muted" }, "Mean score against games: drag the points, or use the sliders."), svg,
    make("div", { class: "learn-guesses" }, inputs.map(({ field }) => field)),
    make("div", {}, make("button", { class: "primary", onclick: () => done(guess()) }, "Show the curve")));
}
