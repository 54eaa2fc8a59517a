"""Searches: how many hits in how many files."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Finding, Reading, clipped, plural

PROGRAM = r"(?:[A-Z_]+=\S+\s+)*(?:z?[ef]?grep|rg|ag|ack|git\s+grep)\s"
SEARCHING = re.compile(rf"(?:^|[;&(]\s*)(?:(?:cat|nl|find|ls)\b[^|;&]*\|\s*(?:xargs\s+)?)?{PROGRAM}")
"""A search, not a filter behind a program that prints something else."""
FIRST = re.compile(rf"^(?:cd\s+\S+\s*(?:&&|;)\s*)?{PROGRAM}")
HIT = re.compile(r"^([\w./@+-]+):(\d+):")
CONTEXT = re.compile(r"^([\w./@+-]+?)-(\d+)-")
NUMBERED = re.compile(r"^(\d+):")
NAMED = re.compile(r"^([\w./@+-]*\.\w{1,6}):")
WORD = re.compile(r"[\w./@+-]+\.\w{1,6}(?=\s|$|['\"])")
FILE = re.compile(r"^\S.*$")
LINE = re.compile(r"^  \d+: ")
MORE = re.compile(r"^  … (\d+) more\b")


def read_hits(output: Output) -> Reading | None:
    """Of `grep -n` and its like; of one file by its numbers, and without numbers by the file before each line."""
    if not SEARCHING.search(output.command):
        return None
    if not any(output.lines):
        return Reading("no hit") if output.ended and FIRST.match(output.command) else None
    for counted in (with_numbers, of_one_file, without_numbers):
        if reading := counted(output):
            return reading
    return None


def with_numbers(output: Output) -> Reading | None:
    hits = [(place, match[1]) for place, line in enumerate(output.lines) if (match := HIT.match(line))]
    hits = hits or [(place, match[1]) for place, line in enumerate(output.lines) if (match := CONTEXT.match(line))]
    hits = [(place, name) for place, name in hits if "." in name.strip("./-+@")]
    return told(output, Counter(name for _, name in hits), hits[0][0], hits[-1][0]) if hits else None


def of_one_file(output: Output) -> Reading | None:
    hits = [(place, match[1]) for place, line in enumerate(output.lines) if (match := NUMBERED.match(line))]
    if not hits:
        return None
    names = WORD.findall(output.command.partition("|")[0])[-1:]
    numbers = ", ".join(number for _, number in hits[:3]) + (", …" if len(hits) > 3 else "")
    where = f" in {names[0]}: line{'s' if len(hits) > 1 else ''} {numbers}" if names else ""
    phrase = clipped(f"{plural(len(hits), 'hit')}{where}")
    return Reading(phrase, (Finding("", phrase, 0.6, output.span(hits[0][0], hits[-1][0])),))


def without_numbers(output: Output) -> Reading | None:
    """If the search comes first, what it prints are hits and nothing else."""
    if not FIRST.match(output.command) or ";" in output.command or output.failed:
        return None
    named = [(place, match[1]) for place, line in enumerate(output.lines) if (match := NAMED.match(line))]
    if named:
        return told(output, Counter(name for _, name in named), named[0][0], named[-1][0])
    lines = [line for line in output.lines if line.strip()]
    return Reading(clipped(f"{plural(len(lines), 'hit')}: {lines[0]}"))


def read_listing(output: Output) -> Reading | None:
    """What our own `search` prints: a file, its hits below it, and how many more."""
    if output.lines and output.lines[0].startswith("no hit"):
        return Reading(clipped(output.lines[0]))
    counted = list(listed(output.lines))
    files = Counter[str]()
    for _, name, count in counted:
        files[name] += count
    return told(output, files, counted[0][0], counted[-1][0]) if files else None


def listed(lines: Sequence[str]) -> Iterator[tuple[int, str, int]]:
    name = ""
    for place, line in enumerate(lines):
        if LINE.match(line) and name:
            yield place, name, 1
        elif (more := MORE.match(line)) and name:
            yield place, name, int(more[1])
        elif FILE.match(line):
            name = line


def told(output: Output, files: Counter[str], first: int, last: int) -> Reading:
    count, names = sum(files.values()), ", ".join(name for name, _ in files.most_common(2))
    phrase = clipped(f"{plural(count, 'hit')} in {plural(len(files), 'file')}: {names}{', …' if len(files) > 2 else ''}")
    return Reading(phrase, (Finding("", phrase, 0.6, output.span(first, last)),))
