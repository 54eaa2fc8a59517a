"""Markdown, taken apart at its headings. Only headings that begin with # count, and none inside a fence."""

import re
from collections.abc import Iterator, Sequence

from afresh.domain.instructions.source import RULES_KEY, NumberedLine, InstructionPart

HEADING_LINE = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
FENCE_LINE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
MARKUP_CHARACTERS = re.compile(r"[*_`]")


def split_into_parts(lines: Sequence[NumberedLine]) -> tuple[InstructionPart, ...]:
    """A file's one `#` heading above all others is its title, and belongs to what stands before the first of them."""
    found = list(find_headings(lines))
    titled = len(found) > 1 and found[0][1] == 1 and all(depth > 1 for _, depth, _ in found[1:])
    starts = found[1:] if titled else found
    ends = [*(at for at, _, _ in starts[1:]), len(lines)]
    opening = trim_empty_lines(lines[: starts[0][0] if starts else len(lines)])
    headed = titled and opening[0] == lines[found[0][0]]
    parts = [InstructionPart((), opening, found[0][2] if headed else "", int(headed))] if opening else []
    above: list[tuple[int, str]] = []
    for (at, depth, title), end in zip(starts, ends, strict=False):
        above = [*((level, key) for level, key in above if level < depth), (depth, normalize_heading(title))]
        parts.append(InstructionPart(tuple(key for _, key in above), trim_empty_lines(lines[at:end]), title, depth))
    return tuple(parts)


def find_headings(lines: Sequence[NumberedLine]) -> Iterator[tuple[int, int, str]]:
    """Index, depth and text of each."""
    fence = ""
    for at, line in enumerate(lines):
        if match := FENCE_LINE.fullmatch(line.text):
            fence = close_fence(fence, match) if fence else match[1]
        elif not fence and (match := HEADING_LINE.fullmatch(line.text)):
            yield at, len(match[1]), (match[2] or "").strip()


def close_fence(fence: str, match: re.Match[str]) -> str:
    """A fence ends with one of its own kind, at least as long, and nothing after it."""
    ends = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip()
    return "" if ends else fence


def normalize_heading(title: str) -> str:
    """What makes two headings the same: their words."""
    return " ".join(MARKUP_CHARACTERS.sub("", title).split()).casefold().rstrip(":.")


def trim_empty_lines(lines: Sequence[NumberedLine]) -> tuple[NumberedLine, ...]:
    """Without empty lines at both ends."""
    held = [at for at, line in enumerate(lines) if line.text.strip()]
    return tuple(lines[held[0] : held[-1] + 1]) if held else ()


def part_from_rule(name: str, text: str, line: int) -> InstructionPart:
    told = "\n  ".join(text.split("\n"))
    return InstructionPart((RULES_KEY, name), tuple(NumberedLine(line, one) for one in f"- {name}: {told}".split("\n")), name)
