"""Find a name or a text in the tree: where a name is defined, who uses it, and what else says it. Text is capped per file, not in
all, so that one noisy file does not hide the rest."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from posixpath import normpath
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.sought import Sought
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

PER_FILE = 4
HITS = 30
FILES = 40
NAMED = 12
"""Hits of a file that are shown at least, hits in all if the files are few, files, and further lines that are named by number."""
DEFINITION = re.compile(r"\d+: (async def|def|class|func|fn)\b")


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    if not args["text"].strip():
        raise ModelMistake("search: text is empty")
    where = scope(args.get("path", ""))
    paths = [path for path in bench.files.paths() if within(path, where)]
    if where and not paths:
        raise ModelMistake(f"search: no file lies under {where!r}; without `path` all are searched")
    known = [one for one in bench.insight.find(args["text"], bench.files) if within(one.path, where)]
    for flags, note in ((0, ""), (re.IGNORECASE, "(ignoring case)\n")):
        if found := hits(re.compile(re.escape(args["text"]), flags), paths, bench):
            return Outcome(note + (sorted_out(known, found) if known and not flags else listing(found)))
    return Outcome(f"no hit for {args['text']!r} in {len(paths)} files", ok=True)


def sorted_out(known: Sequence[Sought], found: Mapping[str, Sequence[str]]) -> str:
    """Definitions, uses, then the lines that are neither."""
    told = {(one.path, one.line) for one in known}
    rest = {path: [line for line in lines if (path, int(line.partition(":")[0])) not in told] for path, lines in found.items()}
    parts = [
        ("defined", by_file(known, True)),
        ("used", by_file(known, False)),
        ("besides", {path: lines for path, lines in rest.items() if lines}),
    ]
    return "\n".join(f"{title}:\n{listing(lines)}" for title, lines in parts if lines)


def by_file(known: Sequence[Sought], defines: bool) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for one in known:
        if one.defines is defines:
            lines.setdefault(one.path, []).append(f"{one.line}: {one.text}")
    return lines


def scope(path: str) -> str:
    """As paths of the tree are spelt; empty for all of it."""
    return "" if not path or (plain := normpath(path)) == "." else plain


def within(path: str, pattern: str) -> bool:
    return not pattern or path == pattern or path.startswith(pattern.rstrip("/") + "/") or fnmatch(path, pattern)


def hits(pattern: re.Pattern[str], paths: list[str], bench: Bench) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        try:
            text = bench.files.read(path)
        except ModelMistake:
            continue
        if pattern.search(text):
            lines = enumerate(text.splitlines(), 1)
            found[path] = [f"{number}: {line.strip()[:160]}" for number, line in lines if pattern.search(line)]
    return found


def listing(found: Mapping[str, Sequence[str]]) -> str:
    """In the order of the lines. If a file has too many, its definitions stay, and of the others it is said where they are."""
    parts, most = list[str](), max(PER_FILE, HITS // len(found))
    for path, lines in list(found.items())[:FILES]:
        ranked = sorted(range(len(lines)), key=lambda at: (not DEFINITION.match(lines[at]), at))
        kept, left = sorted(ranked[:most]), sorted(ranked[most:])
        numbers = ", ".join(lines[at].partition(":")[0] for at in left[:NAMED]) + (", …" if len(left) > NAMED else "")
        more = [f"… {len(left)} more: {numbers}"] if left else []
        parts.append("\n  ".join([path, *[lines[at] for at in kept], *more]))
    rest = f"\n… and {len(found) - FILES} more files" if len(found) > FILES else ""
    return "\n".join(parts) + rest


tool = FunctionTool(schema("search", "Find names or text (path: folder, file or glob).", ("path",), text="", path=""), run)
