"""Files that other tools read: taken as they are. Their front matter is not checked, and what they import is not followed."""

import re

from afresh.adapters.instructions.front import FRONT_MATTER_ENDS, FRONT_MATTER_FENCE, ParsedInstructions, number_lines
from afresh.domain.instructions import split_into_parts
from afresh.domain.text import to_one_line

CURSOR_RULES_FOLDER = ".cursor/rules"
IMPORT_LINE_PATTERN = re.compile(r"\s*(?:[-*]\s+)?@([~\w./-]*[./][\w./-]*)\s*")
"""A line that stands for another file."""
HEAD_FIELD_PATTERN = re.compile(r"(\w+):\s*(.*?)\s*")


def parse_foreign_instructions(file: str, text: str, skipped: int = 0) -> tuple[ParsedInstructions, tuple[str, ...]]:
    """Its parts, and what is not done that its writer may expect."""
    lines = number_lines(text.split("\n"))[skipped:]
    imports = [(line.number, match[1]) for line in lines if (match := IMPORT_LINE_PATTERN.fullmatch(line.text))]
    notes = [
        f"{file}:{number}: @{to_one_line(name, 60)} is not followed; the line is shown as it stands" for number, name in imports
    ]
    return ParsedInstructions(split_into_parts(lines)), tuple(notes)


def parse_cursor_rule(file: str, text: str) -> tuple[ParsedInstructions, tuple[str, ...]]:
    """The head is read line by line, since its patterns are often no YAML. A rule that is neither for all files nor for some is
    loaded by its own tool when asked for, which is not done here."""
    lines = text.split("\n")
    end = (
        next((at for at, said in enumerate(lines[1:], 1) if said.rstrip() in FRONT_MATTER_ENDS), 0)
        if lines[0].rstrip() == FRONT_MATTER_FENCE
        else 0
    )
    head = {match[1]: match[2] for said in lines[1:end] if (match := HEAD_FIELD_PATTERN.fullmatch(said))}
    body, notes = parse_foreign_instructions(file, text, end + 1 if end else 0)
    patterns = tuple(one.strip(" \"'") for one in head.get("globs", "").strip("[]").split(",") if one.strip(" \"'"))
    if head.get("alwaysApply") == "true" or not end:
        return body, notes
    if not patterns:
        return ParsedInstructions(), (f"{file} is not shown: it says neither alwaysApply nor globs",)
    return ParsedInstructions(body.parts, applies_to=patterns), notes
