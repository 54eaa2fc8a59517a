"""Files that other tools read: taken as they are. Their front matter is not checked, and what they import is not followed."""

import re

from afresh.adapters.instructions.front import ENDS, FENCE, Sheet, numbered
from afresh.domain.instructions import split
from afresh.domain.text import one_line

CURSOR_RULES = ".cursor/rules"
IMPORT = re.compile(r"\s*(?:[-*]\s+)?@([~\w./-]*[./][\w./-]*)\s*")
"""A line that stands for another file."""
FIELD = re.compile(r"(\w+):\s*(.*?)\s*")


def foreign(file: str, text: str, skipped: int = 0) -> tuple[Sheet, tuple[str, ...]]:
    """Its parts, and what is not done that its writer may expect."""
    lines = numbered(text.split("\n"))[skipped:]
    imports = [(line.number, match[1]) for line in lines if (match := IMPORT.fullmatch(line.text))]
    notes = [
        f"{file}:{number}: @{one_line(name, 60)} is not followed; the line is shown as it stands" for number, name in imports
    ]
    return Sheet(split(lines)), tuple(notes)


def cursor_rule(file: str, text: str) -> tuple[Sheet, tuple[str, ...]]:
    """The head is read line by line, since its patterns are often no YAML. A rule that is neither for all files nor for some is
    loaded by its own tool when asked for, which is not done here."""
    lines = text.split("\n")
    end = next((at for at, said in enumerate(lines[1:], 1) if said.rstrip() in ENDS), 0) if lines[0].rstrip() == FENCE else 0
    head = {match[1]: match[2] for said in lines[1:end] if (match := FIELD.fullmatch(said))}
    body, notes = foreign(file, text, end + 1 if end else 0)
    patterns = tuple(one.strip(" \"'") for one in head.get("globs", "").strip("[]").split(",") if one.strip(" \"'"))
    if head.get("alwaysApply") == "true" or not end:
        return body, notes
    if not patterns:
        return Sheet(), (f"{file} is not shown: it says neither alwaysApply nor globs",)
    return Sheet(body.parts, applies_to=patterns), notes
