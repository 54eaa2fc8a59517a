"""Lines of compilers, linters and type checkers: `path:line: code message`."""

import re

from afresh.engine.extract.reading import MOST, Finding, Reading, clipped

LINE = re.compile(
    r"^\s*(?P<path>[\w./\\+-]+\.[A-Za-z]\w{0,5})[:(](?P<line>\d+)(?:[:,](?P<column>\d+))?\)?:?(?:\s-)?\s+"
    r"(?P<text>(?:(?:fatal |internal )?(?:error|warning|note)\b|[A-Z]{1,4}\d{2,5}\b).*)$"
)
ARROW = re.compile(r"^\s*--> (?P<path>[\w./\\+-]+\.\w{1,6}):(?P<line>\d+)(?::\d+)?\s*$")
HEADED = re.compile(r"^(?:error(?:\[\w+\])?: |warning: |[A-Z]{1,4}\d{2,5} )")


def read_diagnostics(text: str) -> Reading | None:
    found = list(diagnosed(text.splitlines()))
    if not found:
        return None
    files = {place.rpartition(":")[0] for place, _ in found}
    count = f"{len(found)} finding{'s' if len(found) > 1 else ''} in {len(files)} file{'s' if len(files) > 1 else ''}"
    place, first = found[0]
    return Reading(
        clipped(f"{count}: {place} {first}"), tuple(Finding(where, clipped(what), 0.9) for where, what in found[:MOST])
    )


def diagnosed(lines: list[str]) -> list[tuple[str, str]]:
    """Place and message of each; notes belong to the line before them."""
    found: list[tuple[str, str]] = []
    for number, line in enumerate(lines):
        if match := LINE.match(line):
            if not match["text"].startswith("note"):
                found.append((f"{match['path']}:{match['line']}", match["text"]))
        elif number and (match := ARROW.match(line)) and HEADED.match(lines[number - 1]):
            found.append((f"{match['path']}:{match['line']}", lines[number - 1].strip()))
    return list(dict.fromkeys(found))
