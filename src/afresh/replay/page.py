"""One HTML file that shows a report: no address in it, no script but its own, and all session text as data."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from afresh.domain.text import cut, visible
from afresh.replay.album import Album, Picture
from afresh.replay.measure import Moment
from afresh.replay.report import PLACES, Measured, Report, total_json

CHAPTERS = 5_000_000
CONTEXTS = 7_000_000
"""Characters of the page that figures of steps, and that contexts, may take."""

TASK = 6_000
ROWS = 2_000
PARTS = list(PLACES)


def page(report: Report, album: Album) -> str:
    """Bounded in size: what is left out is told on the page."""
    style, script = _asset("page.css"), _asset("plot.js") + _asset("page.js")
    fill = {
        "policy": f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'",
        "title": escape(_title(report)),
        "style": style,
        "data": _data(_payload(report, album)),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fill[match[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return files("afresh").joinpath("replay", name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _data(payload: dict[str, Any]) -> str:
    """JSON that can't end the element it stands in."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _title(report: Report) -> str:
    total = report.total
    many = f"{total.runs:,} sessions" if total.runs > 1 else "1 session"
    return f"{many}, {total.calls:,} calls: {total.theirs:,} tokens against {total.ours:,}"


def _payload(report: Report, album: Album) -> dict[str, Any]:
    runs, left = [], CHAPTERS
    for one in report.runs[:ROWS]:
        chapter = _head(one)
        steps = _steps(one.moments)
        size = len(json.dumps(steps))
        if size <= left:
            left -= size
            chapter |= steps
        runs.append(chapter)
    lines, stored = _store(runs, album.pictures())
    return {
        "budget": report.budget,
        "total": total_json(report.total),
        "money": asdict(report.bill) if report.bill else None,
        "priced": sum(one.bill is not None for one in report.runs),
        "unpriced": visible(report.unpriced),
        "problems": [cut(visible(problem), 400) for problem in report.problems[:ROWS]],
        "parts": [PLACES[part] for part in PARTS],
        "stored": stored,
        "stride": album.stride,
        "lines": lines,
        "runs": runs,
    }


def _head(one: Measured) -> dict[str, Any]:
    text = {name: cut(visible(getattr(one.run, name)), 300) for name in ("id", "agent", "model", "path")}
    return {
        **text,
        "task": cut(visible(one.run.task), TASK),
        "total": total_json(one.total),
        "money": asdict(one.bill) if one.bill else None,
        "price": asdict(one.price) if one.price else None,
    }


def _steps(moments: Iterable[Moment]) -> dict[str, Any]:
    moments = list(moments)
    return {
        **{name: [getattr(moment, name) for moment in moments] for name in ("theirs", "ours", "window", "reported")},
        "same": [moment.number for moment in moments if not moment.call],
        "needs": {
            moment.number: [
                [need.kind, visible(need.text), int(need.held), int(need.windowed), need.seen, PARTS.index(need.part)]
                for need in moment.needs
            ]
            for moment in moments
            if moment.needs
        },
        "shown": {},
    }


def _store(runs: list[dict[str, Any]], pictures: Iterable[Picture]) -> tuple[list[str], int]:
    """Contexts share most of their lines: each line is stored once, and a context is a list of ranges."""
    table: dict[str, int] = {}
    left, stored = CONTEXTS, 0
    for picture in pictures:
        if left < 0 or picture.run >= len(runs) or "shown" not in runs[picture.run]:
            continue
        shown = picture.unpack()
        lines = visible(shown.pop("context")).split("\n")
        left -= sum(len(line) + 3 for line in lines if line not in table)
        ranges = _ranges(table.setdefault(line, len(table)) for line in lines)
        texts = {name: visible(text) for name, text in shown.items() if text}
        runs[picture.run]["shown"][picture.number] = {"context": ranges, **texts}
        left -= sum(map(len, texts.values())) + 4 * len(ranges)
        stored += 1
    return list(table), stored


def _ranges(numbers: Iterable[int]) -> list[int]:
    """Start, length, start, length …"""
    flat: list[int] = []
    for number in numbers:
        if flat and number == flat[-2] + flat[-1]:
            flat[-1] += 1
        else:
            flat += [number, 1]
    return flat
