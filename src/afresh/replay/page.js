const DATA = JSON.parse(document.getElementById("data").textContent);
const state = { run: 0, step: 1, log: false, sort: null, all: false };
const dollars = (value) => "$" + value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: value < 0.1 ? 4 : 2 });
const counted = (number, word) => `${exact(number)} ${word}${number === 1 ? "" : "s"}`;

function fewer(total) {
  if (total.saving > 0.005) return `${percent(total.saving)} fewer tokens for the same steps`;
  if (total.saving < -0.005) return `${percent(-total.saving)} more tokens: these sessions are too short to save any`;
  return "As many tokens as before: these sessions are too short to save any";
}

/* The top of the page */

function header() {
  const total = DATA.total, names = total.names.share, lines = total.lines.share;
  const held = [names !== null && `${percent(names)} of the names`, lines !== null && `${percent(lines)} of the whole lines`].filter(Boolean);
  return [
    el("p", { class: "brand" }, `afresh replay · at most ${exact(DATA.budget)} tokens a call`),
    el("h1", {}, fewer(total)),
    el("p", { class: "lead" },
      `${counted(total.runs, "recorded session")}, ${counted(total.calls, "call")}. An agent that keeps its history sends `,
      el("b", { class: "theirs" }, `${short(total.theirs)} tokens`), "; afresh builds each call anew and would have sent ",
      el("b", { class: "ours" }, short(total.ours)), ".",
      held.length > 0 && ` Its small context held ${held.join(" and ")} that the next action took from earlier steps.`),
  ];
}

function card(title, figure, rest, ...more) {
  return el("div", { class: "card" }, el("h3", {}, title), el("div", { class: "figure" }, figure), more, el("div", { class: "small soft" }, rest));
}

function recallCard(title, recall) {
  if (recall.share === null) return card(title, "–", "no action referred to anything seen earlier");
  const rest = `${exact(recall.held)} of ${exact(recall.needed)}; a window of the same size ${percent(recall.window_share)} (the tick)`;
  return card(title, percent(recall.share), rest, bar(recall.share, "held", recall.window_share));
}

function cards(total, paid, money) {
  const both = [el("span", { class: "theirs" }, short(total.theirs)), " → ", el("span", { class: "ours" }, short(total.ours))];
  const peak = [el("span", { class: "theirs" }, short(total.peak_theirs)), " → ", el("span", { class: "ours" }, short(total.peak_ours))];
  const shortened = total.reported && total.reported < total.theirs ? ": the agent shortened its history itself" : "";
  const reported = total.reported ? ` The provider counted ${short(total.reported)}, system text and tools included${shortened}.` : "";
  const made = [
    card("Tokens sent", both, `${total.ratio >= 1 ? String(Math.round(total.ratio * 10) / 10) + " times fewer" : "more than before"} in ${counted(total.calls, "call")}.${reported}`,
      bar(total.theirs ? total.ours / total.theirs : 0, "ours")),
    card("Tokens paid", [el("span", { class: "theirs" }, short(paid.theirs)), " → ", el("span", { class: "ours" }, short(paid.ours))],
      `${percent(Math.abs(paid.saving))} ${paid.saving >= 0 ? "fewer" : "more"}, if what was sent before is cached: tokens weighed by price`,
      bar(paid.theirs ? paid.ours / paid.theirs : 0, "ours")),
    card("Largest call", peak, total.over ? `${counted(total.over, "context")} over the limit: counted as holding nothing` : `never over ${exact(DATA.budget)}`,
      bar(total.peak_theirs ? total.peak_ours / total.peak_theirs : 0, "ours")),
    recallCard("Names held", total.names),
    recallCard("Whole lines held", total.lines),
  ];
  if (money) made.push(moneyCard(money));
  return el("div", { class: "cards" }, made);
}

function moneyCard(money) {
  const gain = money.theirs_cached - money.ours_cached;
  const told = gain >= 0 ? `${dollars(gain)} saved with perfect caching of both` : `with perfect caching of both ${dollars(-gain)} more`;
  return card("Input, nothing cached", [el("span", { class: "theirs" }, dollars(money.theirs)), " → ", el("span", { class: "ours" }, dollars(money.ours))], told,
    bar(money.theirs ? money.ours / money.theirs : 0, "ours"));
}

/* The sessions */

const COLUMNS = [
  ["session", (run) => run.id || run.path, (run) => [el("div", { title: run.path }, run.id || run.path)]],
  ["agent", (run) => run.agent, (run) => [run.agent]],
  ["model", (run) => run.model, (run) => [run.model]],
  ["steps", (run) => run.total.steps, (run) => [exact(run.total.steps)]],
  ["theirs", (run) => run.total.theirs, (run) => [el("span", { class: "theirs" }, short(run.total.theirs))]],
  ["afresh", (run) => run.total.ours, (run) => [el("span", { class: "ours" }, short(run.total.ours))]],
  ["fewer", (run) => run.total.saving, (run) => [percent(run.total.saving)]],
  ["names", (run) => run.total.names.share ?? -1, (run) => share(run.total.names)],
  ["lines", (run) => run.total.lines.share ?? -1, (run) => share(run.total.lines)],
  ["missing", (run) => missing(run.total), (run) => [exact(missing(run.total))]],
];

const missing = (total) => total.names.needed - total.names.held + total.lines.needed - total.lines.held;
const share = (recall) => [percent(recall.share), el("span", { class: "soft" }, ` (${percent(recall.window_share)})`)];

function sessions() {
  const order = DATA.runs.map((_, index) => index);
  if (state.sort) {
    const key = COLUMNS[state.sort.column][1];
    order.sort((a, b) => (key(DATA.runs[a]) < key(DATA.runs[b]) ? -1 : key(DATA.runs[a]) > key(DATA.runs[b]) ? 1 : a - b) * state.sort.way);
  }
  const sorted = (column) => () => {
    state.sort = { column, way: state.sort && state.sort.column === column ? -state.sort.way : column < 3 ? 1 : -1 };
    redraw("sessions", sessions());
  };
  const head = COLUMNS.map(([name], i) => el("th", { class: i > 2 ? "number" : "" }, el("button", { onclick: sorted(i) }, name)));
  const row = (index) => el("tr", {
    tabindex: 0, class: index === state.run ? "chosen" : "", "data-run": index,
    onclick: () => open(index, first(DATA.runs[index]), "chapter"), onkeydown: (event) => event.key === "Enter" && open(index, first(DATA.runs[index]), "chapter"),
  }, COLUMNS.map(([, , cells], i) => el("td", { class: i > 2 ? "number" : i ? "words" : "name" }, cells(DATA.runs[index]))));
  return el("section", { id: "sessions" },
    el("h2", {}, counted(DATA.total.runs, "session")),
    el("div", { class: "card scroll" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, order.map(row)))),
    el("p", { class: "small soft" }, "Choose one to look into it. Names and lines: the share that afresh held, and in brackets what a window of the same size did.",
      DATA.total.runs > DATA.runs.length && ` The first ${exact(DATA.runs.length)} are listed.`));
}

/* One session */

function chapter() {
  const run = DATA.runs[state.run];
  const meta = [["agent", run.agent], ["model", run.model], ["file", run.path]].filter(([, value]) => value);
  const parts = [
    el("h2", {}, DATA.runs.length > 1 ? `Session: ${run.id || run.path}` : run.id || run.path),
    el("div", { class: "meta" }, meta.map(([name, value]) => el("span", {}, `${name} `, el("b", {}, value))), el("span", {}, el("b", {}, exact(run.total.steps)), " steps")),
    el("details", { class: "task" }, el("summary", { class: "small soft" }, "The task"), el("div", { class: "card" }, el("pre", {}, run.task || "no task was recorded"))),
    DATA.runs.length > 1 && cards(run.total, run.paid, run.money),
  ];
  if (!run.theirs) return el("section", { id: "chapter" }, parts, el("p", {}, "The steps of this session did not fit on the page: run 'afresh replay --html' for it alone."));
  return el("section", { id: "chapter" }, parts,
    el("div", { class: "card plot", id: "tokens" }), el("div", { class: "card plot", id: "needs" }),
    el("div", { class: "steering", id: "steering" }), el("div", { class: "two", id: "step" }), lost(run));
}

const key = (name, words, dashed) => el("span", { class: "legend" }, el("i", { class: `key ${name}${dashed ? " dashed" : ""}` }), words);
let cursors = [];

function plots() {
  const run = DATA.runs[state.run];
  if (!run.theirs) return;
  const tokens = document.getElementById("tokens"), needs = document.getElementById("needs");
  const width = Math.max(280, tokens.clientWidth - 36);
  const first = tokensPlot(run, DATA.budget, width, state.log), second = needsPlot(run, width);
  const change = () => { state.log = !state.log; plots(); };
  tokens.replaceChildren(el("div", { class: "plot-head" }, el("h3", {}, "Tokens sent before each step"),
    key("theirs", "history kept"), key("ours", "afresh"), key("plain", `limit ${exact(DATA.budget)}`, true),
    run.reported.some(Boolean) && key("theirs", "counted by the provider, with system text and tools", true),
    el("button", { class: "quiet", onclick: change }, state.log ? "linear scale" : "logarithmic scale")), first.svg);
  needs.replaceChildren(el("div", { class: "plot-head" }, el("h3", {}, "What the next action needed of earlier steps"),
    key("held", "held by afresh"), key("plain", "held by a window of the same size"), key("lost", "missing")), second.svg);
  cursors = [first, second].map((plot) => steered(plot, state.step, (step) => hint(run, step), (step) => open(state.run, step)));
}

function hint(run, step) {
  const list = run.needs[step] || [], held = list.filter((need) => need[2]).length, windowed = list.filter((need) => need[3]).length;
  const line = (name, words) => el("div", { class: name }, words);
  return [
    el("b", {}, `step ${exact(step)}`),
    line("theirs", `history kept: ${exact(run.theirs[step - 1])} tokens`),
    line("ours", `afresh: ${exact(run.ours[step - 1])}`),
    run.reported[step - 1] ? line("soft", `provider: ${exact(run.reported[step - 1])}`) : "",
    line("", list.length ? `needed ${list.length}: afresh held ${held}, a window ${windowed}` : "needed nothing of earlier steps"),
  ].filter(Boolean);
}

const losing = (run) => Object.keys(run.needs).map(Number).filter((step) => run.needs[step].some((need) => !need[2]));

let wheel = null;

function steering() {
  const run = DATA.runs[state.run];
  if (!run.theirs) return;
  const last = run.theirs.length, missed = losing(run);
  const go = (step) => open(state.run, Math.max(1, Math.min(last, step)));
  wheel = {
    label: el("b", {}),
    before: el("button", { class: "quiet", onclick: () => go(state.step - 1), title: "left arrow key" }, "‹ before"),
    slider: el("input", { type: "range", min: 1, max: last, "aria-label": "step", oninput: (event) => go(Number(event.target.value)) }),
    next: el("button", { class: "quiet", onclick: () => go(state.step + 1), title: "right arrow key" }, "next ›"),
    lost: el("button", { class: "quiet", onclick: () => go(missed.find((step) => step > state.step) || missed[0]), disabled: !missed.length },
      missed.length ? "next with something missing" : "nothing is missing anywhere"),
  };
  document.getElementById("steering").replaceChildren(...Object.values(wheel));
}

function turn() {
  const last = DATA.runs[state.run].total.steps;
  wheel.label.textContent = `step ${exact(state.step)} of ${exact(last)}`;
  wheel.slider.value = state.step;
  wheel.before.disabled = state.step === 1;
  wheel.next.disabled = state.step === last;
}

/* One step */

function marked(text, needs) {
  const state_of = new Map(needs.map((need) => [need[1], need[2]]));
  if (!state_of.size) return [text];
  const longest = [...state_of.keys()].sort((a, b) => b.length - a.length);
  const find = new RegExp(longest.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "g");
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(find)) {
    nodes.push(text.slice(from, match.index), el("mark", { class: state_of.get(match[0]) ? "held" : "lost" }, match[0]));
    from = match.index + match[0].length;
  }
  nodes.push(text.slice(from));
  return nodes;
}

function contextLines(ranges) {
  const lines = [];
  for (let i = 0; i < ranges.length; i += 2) lines.push(...DATA.lines.slice(ranges[i], ranges[i] + ranges[i + 1]));
  return lines;
}

function sections(lines) {
  const found = [{ title: "", lines: [] }];
  lines.forEach((line, i) => {
    if (line.startsWith("## ") && (i === 0 || lines[i - 1] === "")) found.push({ title: line.slice(3), lines: [] });
    else found[found.length - 1].lines.push(line);
  });
  return found.filter((section) => section.title || section.lines.some(Boolean));
}

const ago = (steps) => (steps === 1 ? "1 step before" : `${exact(steps)} steps before`);

function needed(list) {
  const order = [...list].sort((a, b) => a[2] - b[2] || a[3] - b[3]);
  const row = ([kind, text, held, windowed, seen, part]) => el("li", {},
    el("span", { class: held ? "held" : "lost" }, held ? "✓" : "✗"),
    el("code", { title: kind }, text),
    el("span", { class: "soft" }, held && !windowed ? "a window had lost it; " : "", `${ago(state.step - seen)}, in ${DATA.parts[part]}`));
  const held = list.filter((need) => need[2]).length;
  return el("div", { class: "card" },
    el("header", {}, el("h3", {}, "Needed of earlier steps"), el("span", { class: "small soft" }, `${held} of ${list.length} held`)),
    list.length ? el("ul", { class: "needs" }, order.map(row)) : el("p", { class: "soft small" }, "Nothing: the action names nothing that was seen earlier, or only what is in the task."));
}

function action(shown, list) {
  return el("div", { class: "card" },
    el("header", {}, el("h3", {}, "The action that was really taken"), el("span", { class: "small soft" }, shown.tool || "")),
    shown.said && el("div", { class: "thought" }, "A person said: ", shown.said),
    shown.thought && el("div", { class: "thought" }, shown.thought),
    shown.action ? el("pre", { class: "code" }, marked(shown.action, list)) : el("p", { class: "soft small" }, "No action: the agent only spoke."));
}

function context(shown, list, run) {
  const held = list.filter((need) => need[2]);
  const part = ({ title, lines }) => {
    const body = el("pre", {}, marked(lines.join("\n").replace(/\n+$/, ""), held));
    if (!title) return el("div", { class: "section" }, body);
    return el("details", { class: "section", open: true }, el("summary", {}, title, el("span", { class: "soft" }, ` · ${counted(lines.filter(Boolean).length, "line")}`)), body);
  };
  return el("div", { class: "card" },
    el("header", {}, el("h3", {}, "What afresh would have sent"),
      el("span", { class: "small soft" }, `${exact(run.ours[state.step - 1])} tokens instead of ${exact(run.theirs[state.step - 1])}`)),
    sections(contextLines(shown.context)).map(part));
}

function notStored(run) {
  const kept = Object.keys(run.shown).map(Number), near = [kept.filter((step) => step < state.step).pop(), kept.find((step) => step > state.step)];
  return el("div", { class: "card" }, el("header", {}, el("h3", {}, "The text of this step is not on the page")),
    el("p", { class: "small soft" }, `To keep the page small it holds the texts of ${exact(DATA.stored)} of ${exact(DATA.total.steps)} steps. 'afresh replay --html' for this file alone holds more.`),
    near.filter(Boolean).map((step) => el("button", { class: "quiet", onclick: () => open(state.run, step) }, `go to step ${exact(step)}`)));
}

function step() {
  const run = DATA.runs[state.run];
  const list = run.needs[state.step] || [], shown = run.shown[state.step];
  const parts = shown ? [el("div", {}, action(shown, list), needed(list)), el("div", {}, context(shown, list, run))] : [el("div", {}, needed(list)), el("div", {}, notStored(run))];
  document.getElementById("step").replaceChildren(...parts);
}

function lost(run) {
  const steps = losing(run), most = state.all ? steps.length : 200;
  const row = (number) => {
    const list = run.needs[number].filter((need) => !need[2]);
    const telling = [...list].sort((a, b) => (a[0] < b[0] ? 1 : a[0] > b[0] ? -1 : b[4] - a[4]))[0];
    const more = list.length > 1 ? `, and ${list.length - 1} more` : "";
    return el("li", { "data-step": number }, el("button", { onclick: () => open(state.run, number, "steering") },
      el("b", {}, `step ${exact(number)}`), el("code", { class: "lost" }, telling[1]),
      el("span", { class: "soft" }, `last seen ${ago(number - telling[4])}, in ${DATA.parts[telling[5]]}${more}`)));
  };
  const all = () => { state.all = true; document.getElementById("lost").replaceWith(lost(run)); };
  return el("section", { id: "lost" },
    el("h2", {}, steps.length ? `${counted(steps.length, "moment")} where something needed would have been missing` : "Nothing that was needed would have been missing"),
    steps.length > 0 && el("p", { class: "small soft" }, "In real work the agent would have had to look there again, or recall it from the archive."),
    steps.length > 0 && el("ul", { class: "card scroll moments" }, steps.slice(0, most).map(row), steps.length > most && el("li", {}, el("p", {}, el("button", { class: "quiet", onclick: all }, `show all ${exact(steps.length)}`)))));
}

/* The end of the page */

function money() {
  const sums = DATA.money, total = DATA.total;
  if (!sums) return el("section", {}, el("h2", {}, "Money"), el("p", { class: "soft" }, DATA.unpriced || "No price is known."));
  const row = (words, theirs, ours) => {
    const gain = theirs - ours;
    return el("tr", {}, el("td", {}, words), el("td", { class: "number theirs" }, dollars(theirs)), el("td", { class: "number ours" }, dollars(ours)),
      el("td", { class: `number ${gain >= 0 ? "held" : "lost"}` }, gain >= 0 ? `${dollars(gain)} saved` : `${dollars(-gain)} more`));
  };
  const head = ["input tokens only", "history kept", "afresh", ""].map((words, i) => el("th", { class: i ? "number" : "" }, words));
  const prices = new Map(DATA.runs.filter((run) => run.price).map((run) => [run.price.source, run.price]));
  const listed = [...prices.values()].map((price) => `${price.source}: ${dollars(price.input)}, cached ${dollars(price.cached)}`);
  return el("section", {}, el("h2", {}, "Money"),
    el("div", { class: "card scroll" }, el("table", {}, el("thead", {}, el("tr", {}, head)),
      el("tbody", {}, row("nothing is cached", sums.theirs, sums.ours), row("both with a perfect prefix cache", sums.theirs_cached, sums.ours_cached)))),
    el("p", { class: "small soft" }, `Per million tokens: ${listed.slice(0, 6).join("; ")}. `,
      DATA.priced < total.runs && `${exact(DATA.priced)} of ${exact(total.runs)} sessions are priced; ${DATA.unpriced}.`));
}

function notes() {
  const notes = [
    "The steps are those that were really taken. What another context would have made the model do instead, a recording can't say.",
    "An agent that shortens its history itself sent less than the whole of it. Where the provider's count was recorded, it is the dashed line.",
    "System text and tool schemas are left out on both sides, since every agent sends them.",
    "Tokens are estimated with the counter that keeps afresh under its limit; it errs on the high side for both. Dollars are worked out from the likelier, lower count.",
    "Needed is what the next action names: paths and identifiers, and whole lines of 20 characters or more, that were seen in an earlier step and are not in the task.",
    "Held means that the very same text stands in the context. It does not say that the model acts well on it; and what is missing can often be read again from the file.",
    "The window of the same size is the task and the latest steps that fit: what cutting a history down gives.",
    "Perfect caching reads all of the call before at the cached price. Real caches expire, and writing to them can cost extra.",
    `The page holds the contexts of ${exact(DATA.stored)} of ${exact(DATA.total.steps)} steps${DATA.stored < DATA.total.steps ? ": moments with something missing, and of the others every " + (DATA.stride > 1 ? exact(DATA.stride) + "th" : "one that fits") : ""}.`,
  ];
  return el("section", {}, el("h2", {}, "How to read this"), el("ul", { class: "notes" }, notes.map((note) => el("li", {}, note))));
}

function problems() {
  if (!DATA.problems.length) return null;
  return el("section", {}, el("h2", {}, "What could not be read, or was left out"), el("ul", { class: "problems" }, DATA.problems.map((problem) => el("li", {}, problem))));
}

/* Moving about */

const redraw = (id, node) => document.getElementById(id).replaceWith(node);

function choose() {
  if (!DATA.runs[state.run].theirs) return;
  cursors.forEach((move) => move(state.step));
  turn();
  step();
  for (const item of document.querySelectorAll("#lost li")) item.classList.toggle("chosen", Number(item.dataset.step) === state.step);
}

function open(run, number, target) {
  const other = run !== state.run;
  Object.assign(state, { run, step: number, all: other ? false : state.all });
  if (other) {
    redraw("chapter", chapter());
    plots();
    steering();
    for (const row of document.querySelectorAll("#sessions tbody tr")) row.classList.toggle("chosen", Number(row.dataset.run) === run);
  }
  choose();
  if (target) document.getElementById(target).scrollIntoView({ behavior: "smooth" });
  history.replaceState(null, "", `#${run + 1}.${number}`);
}

function asked() {
  const [run, number] = location.hash.slice(1).split(".").map(Number);
  const chosen = DATA.runs[run - 1] ? run - 1 : 0, found = DATA.runs[chosen].total.steps;
  return [chosen, number >= 1 && number <= found ? number : first(DATA.runs[chosen])];
}

const first = (run) => (run.theirs && (losing(run)[0] || run.theirs.length)) || 1;

document.addEventListener("keydown", (event) => {
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key], last = DATA.runs[state.run].total.steps;
  if (!way || event.target.tagName === "INPUT" || event.altKey || event.ctrlKey || event.metaKey) return;
  open(state.run, Math.max(1, Math.min(last, state.step + way)));
});
let waiting = 0;
addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(plots, 120); });
addEventListener("hashchange", () => { const [run, number] = asked(); if (run !== state.run || number !== state.step) open(run, number); });

[state.run, state.step] = asked();
add(document.getElementById("page"), [header(), cards(DATA.total, DATA.paid, DATA.money), DATA.total.runs > 1 && sessions(), chapter(), money(), notes(), problems()]);
plots();
steering();
choose();
