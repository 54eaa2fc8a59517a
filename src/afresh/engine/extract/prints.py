"""Commands that print files, or names of files: which, and which lines. A phrase is enough, what they show is no finding."""

import re
import shlex
from collections.abc import Sequence

from afresh.engine.extract.output import Output
from afresh.engine.extract.reading import Reading, clipped, plural

PRINTING = ("cat", "nl", "head", "tail", "sed", "bat", "less", "more")
LISTING = ("ls", "find", "tree", "fd")
LONGEST = 600
"""Characters of a command that are looked at."""
JOINED = re.compile(r"\s*(?:&&|;|\|\||\n)\s*")
SHOWN = re.compile(r"^(?:-n)?\s*'?\"?(\d+)(?:,(\d+|\$))?p'?\"?;?$")
LOG = re.compile(r"\.(?:log|out|err|txt)\b")
BETWEEN = re.compile(r"^/(.{1,80}?)/,(?:/.{1,80}/|\+\d+|\$)p$")
QUIET = re.compile(r"\s*(?:2>&1|2>\s*/dev/null)|<<\s*/dev/null")


def read_source(output: Output) -> Reading | None:
    """What a file of the project holds is its text, whatever that looks like; a log is to be read as what it tells of."""
    return None if LOG.search(output.command) else read_print(output)


def read_print(output: Output) -> Reading | None:
    """If all of a command does nothing but print files, or list names."""
    command = QUIET.sub("", output.command.strip())
    if output.failed or not any(output.lines) or len(command) > LONGEST or ">" in command or "<" in command:
        return None
    parts = [part for part in JOINED.split(command) if part and not re.match(r"(?:cd|echo|printf|set|true|pwd)\b", part)]
    shown = [printed(part) for part in parts]
    if shown and all(shown):
        return Reading(clipped("prints " + "; ".join(dict.fromkeys(shown))))
    if len(parts) == 1 and words(parts[0])[:1] and words(parts[0])[0] in LISTING and "-exec" not in parts[0]:
        return listed(output.lines)
    return None


def words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def printed(part: str) -> str:
    """`path lines 10-40`; nothing if it is anything else than printing. A pipe may only cut the lines further."""
    first, *more = [words(piece) for piece in part.split("|")]
    if not first or first[0] not in PRINTING or not all(piece and piece[0] in PRINTING for piece in more):
        return ""
    paths, where = named(first)
    if first[0] == "sed" and not where:
        return ""
    cuts = [cut for piece in more if (cut := named(piece)[1])]
    told = ", ".join(paths[:3]) + (", …" if len(paths) > 3 else "")
    return f"{told} {' of '.join([*reversed(cuts), *filter(None, [where])])}".strip() if paths else ""


def named(piece: Sequence[str]) -> tuple[list[str], str]:
    """The files of a command, and the lines that it prints of them."""
    program, rest = piece[0], list(piece[1:])
    lines, paths, counting = "", list[str](), False
    for word in rest:
        if program == "sed" and (match := SHOWN.match(word)):
            lines = f"lines {match[1]}-{match[2] or match[1]}"
        elif program == "sed" and (match := BETWEEN.match(word)):
            lines = f"from {match[1]!r}"
        elif (
            program in ("head", "tail")
            and (match := re.fullmatch(r"(?:-n?|--lines=)?\+?(\d+)", word))
            and (counting or word[0] == "-")
        ):
            lines = f"{'first' if program == 'head' else 'last'} {match[1]} lines"
        elif not word.startswith("-") and not (program == "nl" and word == "a"):
            paths.append(word)
        counting = word in ("-n", "--lines")
    return paths, lines or {"head": "first 10 lines", "tail": "last 10 lines"}.get(program, "")


def listed(lines: Sequence[str]) -> Reading:
    names = [line.split()[-1] for line in lines if line.split() and not re.match(r"total \d+$", line)]
    return Reading(clipped(f"{plural(len(names), 'name')}: {', '.join(names[:6])}{', …' if len(names) > 6 else ''}"))
