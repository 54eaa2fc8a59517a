"""Markdown, taken apart at its headings. Only headings that begin with # count, and none inside a fence."""

import re
from collections.abc import Iterator, Sequence

from afresh.domain.instructions.source import RULES, Line, Part

HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
MARKUP = re.compile(r"[*_`]")


def split(lines: Sequence[Line]) -> tuple[Part, ...]:
    """A file's one `#` heading above all others is its title, and belongs to what stands before the first of them."""
    found = list(headings(lines))
    titled = len(found) > 1 and found[0][1] == 1 and all(depth > 1 for _, depth, _ in found[1:])
    starts = found[1:] if titled else found
    ends = [*(at for at, _, _ in starts[1:]), len(lines)]
    opening = trimmed(lines[: starts[0][0] if starts else len(lines)])
    headed = titled and opening[0] == lines[found[0][0]]
    parts = [Part((), opening, found[0][2] if headed else "", int(headed))] if opening else []
    above: list[tuple[int, str]] = []
    for (at, depth, title), end in zip(starts, ends, strict=False):
        above = [*((level, key) for level, key in above if level < depth), (depth, named(title))]
        parts.append(Part(tuple(key for _, key in above), trimmed(lines[at:end]), title, depth))
    return tuple(parts)


def headings(lines: Sequence[Line]) -> Iterator[tuple[int, int, str]]:
    """Index, depth and text of each."""
    fence = ""
    for at, line in enumerate(lines):
        if match := FENCE.fullmatch(line.text):
            fence = closed(fence, match) if fence else match[1]
        elif not fence and (match := HEADING.fullmatch(line.text)):
            yield at, len(match[1]), (match[2] or "").strip()


def closed(fence: str, match: re.Match[str]) -> str:
    """A fence ends with one of its own kind, at least as long, and nothing after it."""
    ends = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip()
    return "" if ends else fence


def named(title: str) -> str:
    """What makes two headings the same: their words."""
    return " ".join(MARKUP.sub("", title).split()).casefold().rstrip(":.")


def trimmed(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Without empty lines at both ends."""
    held = [at for at, line in enumerate(lines) if line.text.strip()]
    return tuple(lines[held[0] : held[-1] + 1]) if held else ()


def rule(name: str, text: str, line: int) -> Part:
    told = "\n  ".join(text.split("\n"))
    return Part((RULES, name), tuple(Line(line, one) for one in f"- {name}: {told}".split("\n")), name)
