"use strict";
/* Small drawing code. Text from sessions reaches the page only through text nodes. */

const SVG = document.getElementById("seed").namespaceURI;

function add(node, children) {
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  return add(node, children);
}

function shape(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return add(node, children);
}

const exact = (value) => Math.round(value).toLocaleString("en-US");

function short(value) {
  const units = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, letter] of units) {
    if (value >= size) return (value / size).toFixed(value >= 100 * size ? 0 : 1).replace(/\.0$/, "") + letter;
  }
  return String(Math.round(value));
}

const percent = (share) => (share === null ? "–" : (100 * share).toFixed(share > 0.995 && share < 1 ? 1 : 0) + " %");

function niceTicks(top, many = 4) {
  const raw = top / many, power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= raw) || power;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
}

function logTicks(top) {
  const ticks = [];
  for (let tick = 100; tick <= top * 1.001; tick *= 10) ticks.push(tick);
  return ticks;
}

const LEFT = 46, RIGHT = 12;

function across(count, width) {
  const room = width - LEFT - RIGHT;
  return {
    middle: (step) => LEFT + ((step - 0.5) / count) * room,
    left: (step) => LEFT + ((step - 1) / count) * room,
    step: (x) => Math.max(1, Math.min(count, Math.ceil(((x - LEFT) / room) * count))),
    room,
  };
}

/* Of long runs each pixel column is drawn once, by the highest value in it. */
function thinned(values, room) {
  const size = Math.max(1, Math.ceil(values.length / room));
  const points = [];
  for (let i = 0; i < values.length; i += size) {
    let best = i;
    for (let j = i; j < Math.min(i + size, values.length); j++) if (values[j] > values[best]) best = j;
    points.push([best + 1, values[best]]);
  }
  return points;
}

function stepAxis(svg, x, count, y) {
  const ticks = niceTicks(count, Math.max(2, x.room / 110)).filter((tick) => tick > 1 && Number.isInteger(tick));
  for (const tick of count < 5 ? [1, count] : [1, ...ticks]) {
    svg.append(shape("text", { x: x.middle(tick), y, "text-anchor": "middle" }, tick === 1 ? "step 1" : exact(tick)));
  }
}

function tokensPlot(run, budget, width, logarithmic) {
  const height = 250, bottom = height - 22, count = run.theirs.length, x = across(count, width);
  const top = Math.max(budget, ...[run.theirs, run.ours, run.reported].map((list) => list.reduce((a, b) => Math.max(a, b), 0)));
  const base = logarithmic ? Math.log10(100) : 0;
  const scale = (value) => (logarithmic ? Math.max(0, Math.log10(Math.max(value, 1)) - base) / (Math.log10(top) - base) : value / top);
  const y = (value) => bottom - scale(value) * (bottom - 12);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "tokens sent before each step" });
  for (const tick of logarithmic ? logTicks(top) : niceTicks(top)) {
    svg.append(shape("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }));
    svg.append(shape("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  const path = (values) => thinned(values, x.room).map(([step, value], i) => `${i ? "L" : "M"}${x.middle(step).toFixed(1)},${y(value).toFixed(1)}`).join("");
  const close = `L${x.middle(count)},${bottom}L${x.middle(1)},${bottom}Z`;
  for (const [values, name] of [[run.theirs, "theirs"], [run.ours, "ours"]]) {
    svg.append(shape("path", { class: `area ${name}`, d: path(values) + close }));
    svg.append(shape("path", { class: `line ${name}`, d: path(values) }));
  }
  if (run.reported.some(Boolean)) svg.append(shape("path", { class: "line dashed theirs", d: path(run.reported) }));
  svg.append(shape("line", { class: "line dashed plain", x1: LEFT, x2: width - RIGHT, y1: y(budget), y2: y(budget) }));
  stepAxis(svg, x, count, height - 5);
  return { svg, x, bottom, topEdge: 8 };
}

/* Upwards what our context held and lacked, downwards what the window of the same size did. */
function needsPlot(run, width) {
  const height = 150, middle = 66, count = run.theirs.length, x = across(count, width);
  const size = Math.max(1, Math.ceil(count / x.room)), bins = [];
  for (let first = 1; first <= count; first += size) {
    const bin = { first, needed: 0, held: 0, windowed: 0 };
    for (let step = first; step < first + size; step++) {
      for (const need of run.needs[step] || []) {
        bin.needed += 1;
        bin.held += need[2];
        bin.windowed += need[3];
      }
    }
    bins.push(bin);
  }
  const most = bins.reduce((top, bin) => Math.max(top, bin.needed), 1);
  const tall = (value) => (value / most) * (middle - 12);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "what each action needed, and what was held" });
  const wide = Math.max(1, (x.room / count) * size - (count < x.room / 3 ? 1 : 0));
  const box = (bin, y, h, name) => h > 0 && svg.append(shape("rect", { class: `fill ${name}`, x: x.left(bin.first), width: wide, y, height: h }));
  for (const bin of bins) {
    const held = tall(bin.held), lost = tall(bin.needed - bin.held), windowed = tall(bin.windowed), dropped = tall(bin.needed - bin.windowed);
    box(bin, middle - held, held, "held");
    box(bin, middle - held - lost, lost, "lost");
    box(bin, middle + 2, windowed, "plain");
    box(bin, middle + 2 + windowed, dropped, "lost");
  }
  svg.append(shape("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: middle + 1, y2: middle + 1 }));
  svg.append(shape("text", { x: LEFT - 6, y: 16, "text-anchor": "end" }, exact(most)));
  svg.append(shape("text", { x: LEFT - 6, y: middle - 12, "text-anchor": "end" }, "afresh"));
  svg.append(shape("text", { x: LEFT - 6, y: middle + 20, "text-anchor": "end" }, "window"));
  stepAxis(svg, x, count, height - 5);
  return { svg, x, bottom: height - 22, topEdge: 4 };
}

/* A line for the chosen step, one under the pointer, and what happens on a click. */
function steered(plot, chosen, tell, choose) {
  const upright = (name) => shape("line", { class: name, y1: plot.topEdge, y2: plot.bottom, x1: -9, x2: -9 });
  const cursor = upright("cursor"), hover = upright("hover"), tip = document.getElementById("tip");
  const move = (line, step) => ["x1", "x2"].forEach((end) => line.setAttribute(end, step ? plot.x.middle(step) : -9));
  plot.svg.append(cursor, hover);
  move(cursor, chosen);
  const at = (event) => plot.x.step(event.clientX - plot.svg.getBoundingClientRect().left);
  plot.svg.addEventListener("pointermove", (event) => {
    move(hover, at(event));
    tip.replaceChildren(...tell(at(event)));
    tip.hidden = false;
    const wide = tip.offsetWidth, far = event.clientX + 16 + wide > innerWidth;
    tip.style.left = `${Math.max(4, far ? event.clientX - wide - 14 : event.clientX + 14)}px`;
    tip.style.top = `${Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 6)}px`;
  });
  plot.svg.addEventListener("pointerleave", () => { move(hover, 0); tip.hidden = true; });
  plot.svg.addEventListener("click", (event) => choose(at(event)));
  return (step) => move(cursor, step);
}

/* A share as a bar, with a tick for the yardstick. */
function bar(share, name, yardstick) {
  const svg = shape("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none" });
  svg.append(shape("rect", { class: "track", width: 100, height: 8, rx: 1.2 }));
  svg.append(shape("rect", { class: `fill ${name}`, width: Math.max(0, Math.min(100, 100 * (share || 0))), height: 8, rx: 1.2 }));
  if (yardstick || yardstick === 0) svg.append(shape("line", { class: "tick", x1: 100 * yardstick, x2: 100 * yardstick, y1: 0, y2: 8, "vector-effect": "non-scaling-stroke" }));
  return svg;
}
