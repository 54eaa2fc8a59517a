"""Change a file: write all of it, or replace or insert text in it, placed by its own words or by the name of a definition."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice, takewhile
from textwrap import indent
from typing import Any

from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.context.file_chunks import find_block_end
from afresh.core.action import is_within_scope, normalize_scope
from afresh.core.recognise_test_files import is_test_code
from afresh.core.redaction import REDACTED, redact_secrets
from afresh.core.steering_files import list_unasked_steering_files
from afresh.core.step_result import ToolOutcome
from afresh.core.symbol import Symbol, SymbolKind
from afresh.core.text import format_count
from afresh.core.truncate import join_first
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree, read_text

NOT_REPEATED_MARK = re.compile(r"^[^\S\n]*\[… \d+ lines not repeated.*\]$", re.MULTILINE)
"""What a prompt shows instead of the middle of a text that the model wrote: models copy what they see."""
TEST_LINE = re.compile(r"\s*(?:(?:async )?def|func|fn|function) ([Tt]est\w*)|\s*(?:it|test)\((['\"`])(.+?)\2")
MAX_NAMED_TESTS = 4
MAX_NAMED_PLACES = 12
MARK, JOINT = "\udff0", "\udff1"
TORN_JOINT = re.compile(rf"(?<!{MARK}){JOINT}|{JOINT}(?![ \t]*{MARK})")
"""In the view that is edited: a hidden text, and a line break that may be inside of one, such as a key. No file can have these
characters."""
ALL_COPIES = re.compile(r"all(?:\s+(\d+))?")
DEFINITION_PLACE = re.compile(r"(?:(before|after)\s+)?(\S+?)(?::(\d+))?")
COMMENT_STARTS = ("#", "//", "/*", "*", "--")
Span = tuple[int, int]


def edit_file(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    files, path, old, new, at = context.files, args["path"], args.get("old"), args["new"], args.get("at", "").strip()
    if NOT_REPEATED_MARK.search(new):
        raise ModelMistake("edit: a prompt shows that mark in place of lines; write out the lines themselves")
    if old == new:
        raise ModelMistake("edit: old and new are the same")
    if old:
        check_marks(to_view(old), to_view(new), path)
    if copies := ALL_COPIES.fullmatch(at):
        return ToolOutcome(replace_copies(path, old or "", new, int(copies[1] or 0), context))
    before = read_text(files, path)
    if at:
        text = replace_definition(path, old, new, at, context)
    elif old or (old is not None and before is not None):
        text = replace_text(files, path, old, new)
    else:
        files.write(path, FileView.of(path, before or "").replace([None], new))
        text = f"{'made' if before is None else 'replaced'} {path} ({format_count(len(new.splitlines()), 'line')})\n{new}"
    return ToolOutcome(name_changed_tests(text, {path: before or ""}, files))


def replace_text(files: FileTree, path: str, old: str, new: str) -> str:
    """Replace the text and describe the change. Empty `old` appends."""
    view = FileView.of(path, files.read(path))
    size = len(view.text)
    if old:
        return view.write(files, view.find(old), new)
    return view.write(files, (size, size), ("" if view.text.endswith("\n") or not size else "\n") + new)


def replace_definition(path: str, old: str | None, new: str, at: str, context: ToolContext) -> str:
    """The definition, or `old` in it, becomes the new text, or the new text comes before or after it."""
    text, place = context.files.read(path), DEFINITION_PLACE.fullmatch(at)
    if place is None:
        raise ModelMistake("edit: `at` is the name of a definition, 'before NAME', 'after NAME' or 'all'")
    symbol = find_definition(context.insight.definitions(path, text), path, place[2], int(place[3] or 0))
    view, lines, first, last = FileView.of(path, text), text.split("\n"), symbol.line - 1, symbol.end
    starts = [0, *(match.end() for match in re.finditer(f"[\n{JOINT}]", view.text)), len(view.text)]
    side = place[1] or ("after" if old == "" else "")
    if old and not side:
        return view.write(context.files, view.find(old, (starts[first], starts[last])), new)
    if side == "before" or is_comment(new):
        first -= len([*takewhile(is_comment, reversed(lines[:first]))])
    put = match_indent(new.strip("\n"), lines[symbol.line - 1])
    nested, short = lines[symbol.line - 1][:1].isspace(), symbol.kind is SymbolKind.CONSTANT
    apart = "\n" * (0 if short else 2 if path.endswith((".py", ".pyi")) and not nested else 1)
    if side:
        first = last = first if side == "before" else last
        put = f"{put}\n{apart}" if side == "before" else f"{apart}{put}\n"
    elif put:
        put += "\n"
    else:
        last += len([*takewhile(lambda line: not line.strip(), lines[last:-1])])
    end = "" if not put or view.text[: starts[first]].endswith(("\n", JOINT)) or not first else "\n"
    return view.write(context.files, (starts[first], starts[last]), end + put)


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(COMMENT_STARTS)


def find_definition(symbols: Sequence[Symbol], path: str, asked: str, line: int) -> Symbol:
    """The only definition of this name, or the one that begins at the line. ModelMistake names the candidates."""
    name = asked.removesuffix("()").replace("::", ".").replace("#", ".").strip(".")
    named = [symbol for symbol in symbols if f".{symbol.name}".endswith(f".{name}") and line in (0, symbol.line)]
    names = [symbol.name for symbol in symbols]
    if not named:
        there = join_first(get_close_matches(name, names, n=5) or names, MAX_NAMED_PLACES)
        raise ModelMistake(f"edit: {path} defines no {asked}; it has {there or 'nothing that is known here: give `old`'}")
    if len(named) > 1:
        places = join_first([f"{symbol.name}:{symbol.line}" for symbol in named], MAX_NAMED_PLACES)
        raise ModelMistake(f"edit: {asked} is defined {len(named)} times in {path}: give one of {places}")
    target = named[0]
    around = [symbol for symbol in symbols if symbol.line <= target.end and target.line <= symbol.end and symbol is not target]
    for symbol in around:
        inside = symbol.name.startswith(f"{target.name}.")
        if not inside and not (symbol.line < target.line and (symbol.end > target.end or path.endswith((".py", ".pyi")))):
            raise ModelMistake(f"edit: {target.name} shares a line with {symbol.name} in {path}: give `old`, its text")
    return target


def match_indent(text: str, line: str) -> str:
    """The text, as deep as the line."""
    have, want = (each[: len(each) - len(each.lstrip())] for each in (text, line))
    lines = text.split("\n")
    if have == want or not all(each.startswith(have) for each in lines if each.strip()):
        return text
    return indent("\n".join(each.removeprefix(have) for each in lines), want)


def replace_copies(path: str, old: str, new: str, expected: int, context: ToolContext) -> str:
    """Each copy in a file, or in all files of a folder, or nothing if there are more or fewer than expected. A name is replaced
    as a whole word."""
    files, place = context.files, normalize_scope(path)
    if not old:
        raise ModelMistake("edit: 'all' replaces each `old`: give it")
    pattern = re.compile((r"(?<!\w){}(?!\w)" if old.isidentifier() else "{}").format(re.escape(to_view(old))))
    before = {
        name: text for name in files.paths() if is_within_scope(name, place) and (text := read_text(files, name)) is not None
    }
    views = [FileView.of(name, text) for name, text in before.items() if old.partition(REDACTED)[0] in text]
    copies = [(view, spans) for view in views if (spans := [match.span() for match in pattern.finditer(view.text)])]
    total = sum(len(spans) for _, spans in copies)
    counts = join_first([f"{view.path} {len(spans)}" for view, spans in copies], MAX_NAMED_PLACES)
    if total != (expected or max(1, total)):
        near = counts or (describe_nearest_line(before[place], old) if place in before else "look with `search`")
        raise ModelMistake(f"edit: old occurs {total} times in {path}: {near}")
    if steering := list_unasked_steering_files([view.path for view, _ in copies], context.state):
        raise ModelMistake(f"edit: not done: {steering[0]} acts unasked, and the user has named no change of it")
    for name, changed in [(view.path, view.replace(spans, new)) for view, spans in copies]:
        files.write(name, changed)
    change = [*(f"- {line}" for line in old.splitlines()), *(f"+ {line}" for line in new.splitlines())]
    text = "\n".join([f"{total} replaced: {counts}", *change])
    return name_changed_tests(text, {view.path: before[view.path] for view, _ in copies}, files)


@dataclass(frozen=True, slots=True)
class FileView:
    """A text as the model is shown it and edits it: with marks of one character, of which no part can be matched, and which a
    line break joins if only they are between."""

    path: str
    text: str
    secrets: Sequence[str]
    """The secret behind each mark, in order."""

    @classmethod
    def of(cls, path: str, text: str) -> "FileView":
        shown, secrets = redact_secrets(text), list[str]()
        for real, line in zip(text.split("\n"), shown.split("\n"), strict=True):
            match = re.fullmatch("(.*?)".join(map(re.escape, line.split(REDACTED))), real)
            secrets += match.groups() if match else []
        return cls(path, to_view(shown), secrets)

    def find(self, old: str, span: Span | None = None) -> Span:
        """Where `old` is, if it is there once; it never matches what is hidden."""
        sought, (start, end) = to_view(old), span or (0, len(self.text))
        if (count := self.text.count(sought, start, end)) == 1:
            start = self.text.index(sought, start, end)
            return start, start + len(sought)
        copies = re.finditer(re.escape(sought), self.text[start:end])
        lines = join_first([str(self.number(start + copy.start())) for copy in copies], MAX_NAMED_PLACES)
        near = f"at lines {lines}; give `at`: the definition around it, or 'all {count}', also with a folder as path"
        near = near if count else describe_nearest_line(show_marks(self.text[start:end]), old)
        raise ModelMistake(f"edit: old occurs {count} times in {self.path}: {near}")

    def number(self, place: int) -> int:
        """The line, counted from 1."""
        return show_marks(self.text[:place]).count("\n") + 1

    def write(self, files: FileTree, span: Span, new: str) -> str:
        """Write the new text and describe the change."""
        files.write(self.path, self.replace([span], new))
        removed, added = show_marks(self.text[slice(*span)]).splitlines(), new.splitlines()
        first, change = self.number(span[0]), [f"- {line}" for line in removed]
        if not removed:
            blank = len([*takewhile(lambda line: not line, added)])
            first, added = first + blank, added[blank:]
        done = f"replaced (now {name_lines(first, len(added))})" if added else "removed"
        text = f"{name_lines(first, len(removed))} {done}" if removed else f"{name_lines(first, len(added))} added"
        return "\n".join([f"{self.path}: {text}", *change, *(f"+ {line}" for line in added)])

    def replace(self, spans: Sequence[Span | None], new: str) -> str:
        """The text of the file, each span replaced (None is all of it), with the secrets put back by their order. A prompt will
        show the result as the model wrote it, or it is a ModelMistake: other characters around a secret would show it."""
        put, at, left, kept, parts = to_view(new), 0, iter(self.secrets), list[str](), list[str]()
        for start, end in [span or (0, len(self.text)) for span in spans]:
            check_marks(self.text[start:end], put, self.path)
            kept += islice(left, self.text.count(MARK, at, start))
            inside = [*islice(left, self.text.count(MARK, start, end))]
            kept += inside if MARK in put else []
            parts += [self.text[at:start], put]
            at = end
        view = "".join([*parts, self.text[at:]])
        first, *after = view.replace(JOINT, "\n").split(MARK)
        text = first + "".join(f"{secret}{part}" for secret, part in zip([*kept, *left], after, strict=True))
        if TORN_JOINT.search(view) or redact_secrets(text) != redact_secrets(show_marks(view)):
            raise ModelMistake(
                f"edit: not done: this would show what {REDACTED} hides in {self.path}, or change it. Keep the characters "
                f"around {REDACTED} as they are; marks on lines that follow each other are kept or removed together"
            )
        return text


def to_view(shown: str) -> str:
    return re.sub(rf"(?<={MARK})\n(?=[ \t]*{MARK})", JOINT, shown.replace(REDACTED, MARK))


def show_marks(view: str) -> str:
    return view.replace(MARK, REDACTED).replace(JOINT, "\n")


def check_marks(old: str, new: str, path: str) -> None:
    """The new text has all marks of the old one, or none."""
    before, after = (re.sub(f"[^{MARK}{JOINT}]", "", text) for text in (old, new))
    if after not in ("", before):
        raise ModelMistake(
            f"edit: {REDACTED} hides a secret of {path}, which is kept where `new` has the mark too. The text that is replaced "
            f"has {format_count(before.count(MARK), 'such mark')}, `new` has {after.count(MARK)}: give as many, in the same "
            "order, with nothing new between marks on lines of their own"
        )


def name_changed_tests(summary: str, before: Mapping[str, str], files: FileTree) -> str:
    changed = [name for path, text in before.items() for name in find_changed_tests(path, text, read_text(files, path) or "")]
    head, rest, text = summary.partition("\n")
    return f"{head}; this changes the existing {join_first(changed, MAX_NAMED_TESTS)}{rest}{text}" if changed else summary


def find_changed_tests(path: str, before: str, after: str) -> list[str]:
    """Tests of the file of which the edit has left no copy as it was, each once: several may have the same name."""
    if not is_test_code(path):
        return []
    gone = Counter(list_tests(before.splitlines())) - Counter(list_tests(after.splitlines()))
    return list(dict.fromkeys(name for name, _ in gone))


def list_tests(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each test function by its name, with its lines. A function inside of one is a part of it, whatever its name."""
    end = 0
    for number, line in enumerate(lines, 1):
        if number > end and (match := TEST_LINE.match(line)):
            end = find_block_end(lines, number)
            yield match[1] or match[3], "\n".join(lines[number - 1 : end]).rstrip()


def name_lines(first: int, count: int) -> str:
    return f"lines {first}-{first + count - 1}" if count > 1 else f"line {first}"


def describe_nearest_line(text: str, old: str) -> str:
    """The line most like the first line of `old`, so that a slip in copying can be mended at once."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    numbers = {line.strip(): number for number, line in enumerate(text.splitlines()[:5000], 1)}
    near = get_close_matches(wanted, numbers, 1) if wanted else []
    return f"nearest is line {numbers[near[0]]}: {near[0]!r}" if near else "copy it exactly from the file"


tool = FunctionTool(
    make_tool_schema(
        "edit",
        "Replace `old`, there once; empty: append; none: all, in the file or definition `at` ('before/after NAME': insert).",
        ("old", "at"), path="", old="", at="", new="",
    ),
    edit_file,
)  # fmt: skip
