// What a page needs beyond links and forms: the theme switch, confirmations, live regions and charts.
"use strict";

function switchTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  document.dispatchEvent(new Event("theme-switched"));
}

function askBeforeSubmit(event) {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
}

// A region with the focus, or with text selected in it, is left alone until the person is done.
function isInUse(region) {
  const selected = getSelection();
  return region.contains(document.activeElement) && document.activeElement !== region
    || (!selected.isCollapsed && region.contains(selected.anchorNode));
}

// "A worker has been started" is no longer true when the task has come to another state than running.
function hasEnded(before, after) {
  const [was, is] = [before, after].map((region) => region.querySelector(".head .status")?.textContent);
  return Boolean(was && is && was !== is && is !== "running");
}

function dropNotices() {
  document.querySelectorAll("main > [role=status] > .notice").forEach((notice) => notice.remove());
}

let isLoading = false, isStale = false;
async function refreshLiveRegions() {
  if (isLoading || document.hidden) { isStale = true; return; }
  isLoading = true; isStale = false;
  try {
    const answer = await fetch(location.href, { headers: { "x-live": "1" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const region of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(region.id);
      if (!fresh || fresh.innerHTML === region.innerHTML) continue;
      if (isInUse(region)) { isStale = true; continue; }
      if (hasEnded(region, fresh)) dropNotices();
      const folds = region.querySelectorAll("details");
      fresh.querySelectorAll("details").forEach((fold, place) => { fold.open = folds[place]?.open ?? fold.open; });
      region.replaceWith(document.adoptNode(fresh));
      htmx.process(fresh);
    }
    if (document.querySelector(".head ~ [role=alert] .stop")) dropNotices();
  } finally {
    isLoading = false;
    if (isStale) setTimeout(refreshLiveRegions, 1000);
  }
}

function showPulse(state) {
  const pulse = document.getElementById("pulse");
  pulse.dataset.state = state;
  pulse.textContent = state === "on" ? "live" : "not live";
}

function listenForChanges() {
  const events = new EventSource(document.body.dataset.events);
  // What happened between the page and this connection, or while there was none, is fetched now.
  events.onopen = () => { showPulse("on"); refreshLiveRegions(); };
  events.onerror = () => showPulse("off");
  events.onmessage = refreshLiveRegions;
  document.addEventListener("visibilitychange", () => { if (!document.hidden && isStale) refreshLiveRegions(); });
  addEventListener("pagehide", () => events.close());
}

document.getElementById("theme").addEventListener("click", switchTheme);
document.addEventListener("submit", askBeforeSubmit);
if (document.body.dataset.events) listenForChanges();

// Canvas does not know light-dark(): a colour is asked of an element that wears it.
function resolveColour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

function drawChart(figure, calls) {
  const lines = [["sent", "Sent", "--c0"], ["paid", "Paid as", "--c2"], ["ceiling", "Limit", "--c6"], ["accumulating", "Whole history", "--c1"]];
  const shown = lines.filter(([key]) => calls[key].length);
  const axis = { stroke: resolveColour("--muted"), grid: { stroke: resolveColour("--line"), width: 1 }, ticks: { show: false } };
  figure.replaceChildren();
  new uPlot({
    width: figure.clientWidth, height: 280, cursor: { points: { size: 6 } }, scales: { x: { time: false }, y: { range: (_, least, most) => [0, most * 1.05] } },
    axes: [{ ...axis, incrs: [1, 2, 5, 10, 20, 50, 100], label: "step", labelSize: 20 }, { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => tick.toLocaleString()) }],
    series: [{ label: "Step" }, ...shown.map(([key, label, colour]) => ({
      label, stroke: resolveColour(colour), width: 2, dash: key === "ceiling" ? [6, 4] : undefined,
      points: { show: calls.steps.length < 40 }, value: (_, value) => value == null ? "–" : value.toLocaleString() }))],
  }, [calls.steps, ...shown.map(([key]) => calls[key])], figure);
}

for (const figure of document.querySelectorAll("[data-chart]")) {
  fetch(figure.dataset.chart).then((answer) => answer.json()).then((calls) => {
    const draw = () => drawChart(figure, calls);
    if (!calls.steps.length) { figure.textContent = "No call yet."; return; }
    draw();
    document.addEventListener("theme-switched", draw);
    addEventListener("resize", draw);
  });
}
