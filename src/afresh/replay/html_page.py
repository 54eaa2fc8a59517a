"""One HTML file that shows a report: no address in it, no script but its own, and all session text as data."""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from afresh.core.text import escape_hidden, format_count
from afresh.core.truncate import truncate_text
from afresh.replay.measure_run import StepMeasurement
from afresh.replay.report import STEP_PART_WORDS, ReplayReport, RunMeasurement, paid_to_json, run_to_json, totals_to_json

MAX_EVEN_SAMPLES = 200
MAX_ACTION_CHARACTERS = 8_000
MAX_THOUGHT_CHARACTERS = 3_000
"""Characters of an action and of a thought that are shown."""


@dataclass(frozen=True, slots=True)
class SampledContext:
    """One step of the page. `missing` is how many things its context lacked."""

    run: int
    number: int
    missing: int
    packed: bytes

    def unpack(self) -> dict[str, str]:
        return json.loads(zlib.decompress(self.packed))


class ContextSampler:
    """Takes in every moment and keeps few. A second pass over the runs is not needed: when there are too many evenly chosen
    ones, every second of them goes."""

    def __init__(self, room: int = 24_000_000) -> None:
        self.room, self.stride, self.longest = room, 1, 0
        self.even: dict[tuple[int, int], SampledContext] = {}
        self.missed: dict[tuple[int, int], SampledContext] = {}

    def offer(self, run: int, moment: StepMeasurement) -> None:
        self.longest = max(self.longest, moment.number)
        missing, due = len(moment.missing), not (moment.number - 1) % self.stride
        if not missing and not due:
            return
        picture = SampledContext(run, moment.number, missing, _pack_step(moment))
        if len(picture.packed) > self.room:
            return
        self.room -= len(picture.packed)
        (self.missed if missing else self.even)[run, moment.number] = picture
        if len(self.even) > MAX_EVEN_SAMPLES:
            self._thin()

    def _thin(self) -> None:
        """Every second one goes, until the rest fits or is one moment a run."""
        while len(self.even) > MAX_EVEN_SAMPLES and self.stride <= self.longest:
            self.stride *= 2
            gone = [key for key in self.even if (key[1] - 1) % self.stride]
            self.room += sum(len(self.even.pop(key).packed) for key in gone)

    def pictures(self) -> list[SampledContext]:
        """The evenly chosen ones first, then those with the most missing."""
        return [*self.even.values(), *sorted(self.missed.values(), key=lambda it: (-it.missing, it.run, it.number))]


def _pack_step(moment: StepMeasurement) -> bytes:
    step = moment.step
    shown = {
        "context": moment.context,
        "said": _truncate_text(step.said, MAX_THOUGHT_CHARACTERS),
        "thought": _truncate_text(step.thought, MAX_THOUGHT_CHARACTERS),
        "tool": step.tool,
        "action": _truncate_text(step.action, MAX_ACTION_CHARACTERS),
    }
    return zlib.compress(json.dumps(shown).encode(), 6)


def _truncate_text(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n[… {len(text) - limit:,} more characters]"


MAX_STEP_FIGURES_CHARACTERS = 5_000_000
MAX_CONTEXTS_CHARACTERS = 7_000_000
"""Characters of the page that figures of steps, and that contexts, may take."""

MAX_TASK_CHARACTERS = 6_000
MAX_RUNS_SHOWN = 2_000
STEP_PARTS = list(STEP_PART_WORDS)


def render_page(report: ReplayReport, album: ContextSampler) -> str:
    """The page, bounded in size; it says what is left out."""
    style, script = _read_asset("page.css"), _read_asset("plot.js") + _read_asset("page.js")
    fill = {
        "policy": (
            f"default-src 'none'; style-src {_hash_for_policy(style)}; script-src {_hash_for_policy(script)}; base-uri 'none'"
        ),
        "title": escape(_render_title(report)),
        "style": style,
        "data": _encode_data(_payload(report, album)),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fill[match[1]], _read_asset("page.html"))


def _read_asset(name: str) -> str:
    return files("afresh").joinpath("replay", name).read_text("utf-8")


def _hash_for_policy(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _encode_data(payload: dict[str, Any]) -> str:
    """JSON that can't end its HTML element."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _render_title(report: ReplayReport) -> str:
    total = report.total
    many = f"{total.runs:,} sessions" if total.runs > 1 else "1 session"
    return f"{many}, {format_count(total.calls, 'call')}: {total.theirs:,} tokens against {total.ours:,}"


def _payload(report: ReplayReport, album: ContextSampler) -> dict[str, Any]:
    runs, left = [], MAX_STEP_FIGURES_CHARACTERS
    for run in report.runs[:MAX_RUNS_SHOWN]:
        chapter = _run_head(run)
        steps = _step_figures(run.moments)
        size = len(json.dumps(steps))
        if size <= left:
            left -= size
            chapter |= steps
        runs.append(chapter)
    lines, stored = _store_contexts(runs, album.pictures())
    return {
        "budget": report.bound,
        "total": totals_to_json(report.total),
        "paid": paid_to_json(report.paid),
        "money": asdict(report.bill) if report.bill else None,
        "priced": sum(measurement.bill is not None for measurement in report.runs),
        "unpriced": escape_hidden(report.unpriced),
        "problems": [truncate_text(escape_hidden(problem), 400) for problem in report.problems[:MAX_RUNS_SHOWN]],
        "parts": [STEP_PART_WORDS[part] for part in STEP_PARTS],
        "stored": stored,
        "stride": album.stride,
        "lines": lines,
        "runs": runs,
    }


def _run_head(measurement: RunMeasurement) -> dict[str, Any]:
    limits = {"id": 300, "agent": 300, "model": 300, "path": 300, "task": MAX_TASK_CHARACTERS}
    text = {name: truncate_text(escape_hidden(getattr(measurement.run, name)), limit) for name, limit in limits.items()}
    return run_to_json(measurement) | text


def _step_figures(moments: Iterable[StepMeasurement]) -> dict[str, Any]:
    moments = list(moments)
    return {
        **{name: [getattr(moment, name) for moment in moments] for name in ("theirs", "ours", "window", "reported")},
        "same": [moment.number for moment in moments if not moment.call],
        "needs": {
            moment.number: [
                [need.kind, escape_hidden(need.text), int(need.held), int(need.windowed), need.seen, STEP_PARTS.index(need.part)]
                for need in moment.needs
            ]
            for moment in moments
            if moment.needs
        },
        "shown": {},
    }


def _store_contexts(runs: list[dict[str, Any]], pictures: Iterable[SampledContext]) -> tuple[list[str], int]:
    """Contexts share most of their lines: each line is stored once, and a context is a list of ranges."""
    table: dict[str, int] = {}
    left, stored = MAX_CONTEXTS_CHARACTERS, 0
    for picture in pictures:
        if left < 0 or picture.run >= len(runs) or "shown" not in runs[picture.run]:
            continue
        shown = picture.unpack()
        lines = escape_hidden(shown.pop("context")).split("\n")
        left -= sum(len(line) + 3 for line in lines if line not in table)
        ranges = _compress_ranges(table.setdefault(line, len(table)) for line in lines)
        texts = {name: escape_hidden(text) for name, text in shown.items() if text}
        runs[picture.run]["shown"][picture.number] = {"context": ranges, **texts}
        left -= sum(map(len, texts.values())) + 4 * len(ranges)
        stored += 1
    return list(table), stored


def _compress_ranges(numbers: Iterable[int]) -> list[int]:
    """Start, length, start, length …"""
    flat: list[int] = []
    for number in numbers:
        if flat and number == flat[-2] + flat[-1]:
            flat[-1] += 1
        else:
            flat += [number, 1]
    return flat
