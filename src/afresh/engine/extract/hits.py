"""Searches: how many hits in how many files."""

import re
from collections import Counter

from afresh.engine.extract.reading import Finding, Reading, clipped

SEARCHING = re.compile(r"(?:^|[;&|(]\s*)(?:grep|rg|ag|ack|git\s+grep)\s|\bfindstr\s")
HIT = re.compile(r"^([\w./+-]*\w[\w./+-]*?)[:-](\d+)[:-]")
NUMBERED = re.compile(r"^\d+[:-]")
FILE, LINE, MORE = re.compile(r"^\S.*$"), re.compile(r"^  \d+: "), re.compile(r"^  … (\d+) more\b")


def read_hits(text: str, command: str) -> Reading | None:
    """Of `grep -n` and its like; without numbers nobody can tell a hit from its context."""
    if not SEARCHING.search(command):
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    files = Counter(match[1] for line in lines if (match := HIT.match(line)) and "." in match[1])
    if files:
        return told(files)
    numbered = sum(bool(NUMBERED.match(line)) for line in lines)
    return Reading(f"{numbered} hits") if numbered else None


def read_listing(text: str) -> Reading | None:
    """What our own `search` prints: a file, its hits below it, and how many more."""
    if text.startswith("no hit"):
        return Reading(clipped(text.partition("\n")[0]))
    files: Counter[str] = Counter()
    name = ""
    for line in text.splitlines():
        if LINE.match(line) and name:
            files[name] += 1
        elif (more := MORE.match(line)) and name:
            files[name] += int(more[1])
        elif FILE.match(line):
            name = line
    return told(files) if files else None


def told(files: Counter[str]) -> Reading:
    count, first = sum(files.values()), ", ".join(name for name, _ in files.most_common(2))
    hits = f"{count} hit{'s' if count > 1 else ''} in {len(files)} file{'s' if len(files) > 1 else ''}"
    phrase = clipped(f"{hits}: {first}{', …' if len(files) > 2 else ''}")
    return Reading(phrase, (Finding("", phrase, 0.6),))
