"""Recognises files that a command printed, and the lines that a search found in them."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from afresh.core.command_output import CommandOutput, OutputFinding, OutputReading, format_plural, truncate_to_one_line
from afresh.core.truncate import join_first

PRINTING_PROGRAMS = ("cat", "nl", "head", "tail", "sed", "bat", "less", "more")
LISTING_PROGRAMS = ("ls", "find", "tree", "fd")
MAX_PRINT_COMMAND_CHARACTERS = 600
"""Longer commands are not examined."""
COMMAND_SEPARATOR = re.compile(r"(?:(?<!\s)\s+)?(?:&&|;|\|\||\n)\s*")
SED_LINE_RANGE = re.compile(r"^(?:-n)?\s*'?\"?(\d+)(?:,(\d+|\$))?p'?\"?;?$")
LOG_FILE = re.compile(r"\.(?:log|out|err|txt)\b")
SED_PATTERN_RANGE = re.compile(r"^/(.{1,80}?)/,(?:/.{1,80}/|\+\d+|\$)p$")
QUIET_REDIRECTION = re.compile(r"(?:(?<!\s)\s+)?(?:2>&1|2>\s*/dev/null)|<<\s*/dev/null")


def read_printed_source(output: CommandOutput) -> OutputReading | None:
    """Return the printed files as source text, whatever they contain; None for logs, whose content is read as output."""
    return None if LOG_FILE.search(output.command) else read_printed_files(output)


def read_printed_files(output: CommandOutput) -> OutputReading | None:
    """Return what was printed, if the whole command only prints files or lists names."""
    command = QUIET_REDIRECTION.sub("", output.command.strip())
    if output.failed or not any(output.lines) or len(command) > MAX_PRINT_COMMAND_CHARACTERS or ">" in command or "<" in command:
        return None
    parts = [
        part for part in COMMAND_SEPARATOR.split(command) if part and not re.match(r"(?:cd|echo|printf|set|true|pwd)\b", part)
    ]
    shown = [describe_printed_lines(part) for part in parts]
    if shown and all(shown):
        return OutputReading(truncate_to_one_line("prints " + "; ".join(dict.fromkeys(shown))))
    if len(parts) == 1 and split_words(parts[0])[:1] and split_words(parts[0])[0] in LISTING_PROGRAMS and "-exec" not in parts[0]:
        return reading_from_listing(output.lines)
    return None


def split_words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def describe_printed_lines(part: str) -> str:
    """Return `path lines 10-40`; empty if the part does more than print. A pipe may only select fewer lines."""
    first, *more = [split_words(piece) for piece in part.split("|")]
    if not first or first[0] not in PRINTING_PROGRAMS or not all(piece and piece[0] in PRINTING_PROGRAMS for piece in more):
        return ""
    paths, where = parse_print_arguments(first)
    if first[0] == "sed" and not where:
        return ""
    cuts = [cut for piece in more if (cut := parse_print_arguments(piece)[1])]
    text = join_first(paths, 3)
    return f"{text} {' of '.join([*reversed(cuts), *filter(None, [where])])}".strip() if paths else ""


def parse_print_arguments(piece: Sequence[str]) -> tuple[list[str], str]:
    """Return the files of a command, and the lines that it prints of them."""
    program, rest = piece[0], list(piece[1:])
    lines, paths, counting = "", list[str](), False
    for word in rest:
        if program == "sed" and (match := SED_LINE_RANGE.match(word)):
            lines = f"lines {match[1]}-{match[2] or match[1]}"
        elif program == "sed" and (match := SED_PATTERN_RANGE.match(word)):
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


def reading_from_listing(lines: Sequence[str]) -> OutputReading:
    names = [line.split()[-1] for line in lines if line.split() and not re.match(r"total \d+$", line)]
    return OutputReading(truncate_to_one_line(f"{format_plural(len(names), 'name')}: {join_first(names, 6)}"))


SEARCH_PROGRAM = r"(?:[A-Z_]+=\S+\s+)*(?:z?[ef]?grep|rg|ag|ack|git\s+grep)\s"
SEARCH_COMMAND = re.compile(rf"(?:^|[;&(]\s*)(?:(?:cat|nl|find|ls)\b[^|;&]*\|\s*(?:xargs\s+)?)?{SEARCH_PROGRAM}")
"""A search, not a filter after a program that prints something else."""
LEADING_SEARCH = re.compile(rf"^(?:cd\s+\S+\s*(?:&&|;)\s*)?{SEARCH_PROGRAM}")
HIT_LINE = re.compile(r"^([\w./@+-]+):(\d+):")
CONTEXT_LINE = re.compile(r"^([\w./@+-]+?)-(\d+)-")
NUMBERED_LINE = re.compile(r"^(\d+):")
FILE_PREFIX = re.compile(r"^([\w./@+-]*\.\w{1,6}):")
FILE_ARGUMENT = re.compile(r"(?<![\w./@+-])[\w./@+-]+\.\w{1,6}(?=\s|$|['\"])")
LISTED_FILE = re.compile(r"^\S.*$")
LISTED_HIT = re.compile(r"^  \d+: ")
MORE_HITS = re.compile(r"^  … (\d+) more\b")


def read_search_hits(output: CommandOutput) -> OutputReading | None:
    """Return the hits of `grep -n` and the like: by path and line, by line for one file, or by path without line numbers."""
    if not SEARCH_COMMAND.search(output.command):
        return None
    if not any(output.lines):
        return OutputReading("no hit") if output.ended and LEADING_SEARCH.match(output.command) else None
    for counted in (read_numbered_hits, read_hits_of_one_file, read_unnumbered_hits):
        if reading := counted(output):
            return reading
    return None


def read_numbered_hits(output: CommandOutput) -> OutputReading | None:
    hits = [(place, match[1]) for place, line in enumerate(output.lines) if (match := HIT_LINE.match(line))]
    hits = hits or [(place, match[1]) for place, line in enumerate(output.lines) if (match := CONTEXT_LINE.match(line))]
    hits = [(place, name) for place, name in hits if "." in name.strip("./-+@")]
    return reading_from_hits(output, Counter(name for _, name in hits), hits[0][0], hits[-1][0]) if hits else None


def read_hits_of_one_file(output: CommandOutput) -> OutputReading | None:
    hits = [(place, match[1]) for place, line in enumerate(output.lines) if (match := NUMBERED_LINE.match(line))]
    if not hits:
        return None
    names = FILE_ARGUMENT.findall(output.command.partition("|")[0])[-1:]
    numbers = join_first([number for _, number in hits], 3)
    where = f" in {names[0]}: line{'s' if len(hits) > 1 else ''} {numbers}" if names else ""
    phrase = truncate_to_one_line(f"{format_plural(len(hits), 'hit')}{where}")
    return OutputReading(phrase, (OutputFinding("", phrase, 0.6, output.span(hits[0][0], hits[-1][0])),))


def read_unnumbered_hits(output: CommandOutput) -> OutputReading | None:
    """Return the hits by path, if the search comes first, so that it prints nothing but hits."""
    if not LEADING_SEARCH.match(output.command) or ";" in output.command or output.failed:
        return None
    named = [(place, match[1]) for place, line in enumerate(output.lines) if (match := FILE_PREFIX.match(line))]
    if named:
        return reading_from_hits(output, Counter(name for _, name in named), named[0][0], named[-1][0])
    lines = [line for line in output.lines if line.strip()]
    return OutputReading(truncate_to_one_line(f"{format_plural(len(lines), 'hit')}: {lines[0]}"))


def read_search_tool_output(output: CommandOutput) -> OutputReading | None:
    """Return the hits of afresh's own `search` tool: each file with its hits below it, and how many more there are."""
    if output.lines and output.lines[0].startswith("no hit"):
        return OutputReading(truncate_to_one_line(output.lines[0]))
    counted = list(parse_listed_hits(output.lines))
    files = Counter[str]()
    for _, name, count in counted:
        files[name] += count
    return reading_from_hits(output, files, counted[0][0], counted[-1][0]) if files else None


def parse_listed_hits(lines: Sequence[str]) -> Iterator[tuple[int, str, int]]:
    name = ""
    for place, line in enumerate(lines):
        if LISTED_HIT.match(line) and name:
            yield place, name, 1
        elif (more := MORE_HITS.match(line)) and name:
            yield place, name, int(more[1])
        elif LISTED_FILE.match(line):
            name = line


def reading_from_hits(output: CommandOutput, files: Counter[str], first: int, last: int) -> OutputReading:
    count, names = sum(files.values()), join_first([name for name, _ in files.most_common()], 2)
    phrase = truncate_to_one_line(f"{format_plural(count, 'hit')} in {format_plural(len(files), 'file')}: {names}")
    return OutputReading(phrase, (OutputFinding("", phrase, 0.6, output.span(first, last)),))


NUMBER_BEFORE_LINE = re.compile(r"\d+(?:: ?|\t|→)\s*(?=\S)")
NUMBERED_LINE_START = re.compile(r"\s*\d+(?:[:→\t]|  )")
NUMBERED_CODE = re.compile(r"(?:[\w./-]+:)?[+ ]?\s*\d+(?:[:\t→-]| )\s*(\S.*)")


def strip_line_number(line: str) -> str:
    """Return a line without the line number that a tool printed before it."""
    numbered = NUMBER_BEFORE_LINE.match(line) if line[0].isdigit() else None
    return line[numbered.end() :] if numbered else line


def has_line_number(line: str) -> bool:
    return NUMBERED_LINE_START.match(line) is not None


def find_numbered_code(text: str) -> list[str]:
    """Return the lines of files in an output, where a tool printed them with line numbers, with or without paths."""
    return [match[1] for line in text.splitlines() if (match := NUMBERED_CODE.match(line))]
