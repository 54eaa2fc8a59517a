"""Find a name or a text in the tree: where a name is defined, who uses it, and what else says it. Text is capped per file, not in
all, so that one noisy file does not hide the rest."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from afresh.actions.tools.archive import search_archive
from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.core.action import is_within_scope, normalize_scope
from afresh.core.redaction import redact_secrets
from afresh.core.step_result import ToolOutcome
from afresh.core.symbol import SearchHit
from afresh.core.text import format_count
from afresh.core.tool_traits import is_archive_address
from afresh.core.truncate import join_first
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import read_text

MIN_HITS_PER_FILE = 4
MAX_HITS = 30
MAX_FILES = 40
MAX_NAMED_LINES = 12
"""Least hits shown of a file, most hits in all, most files, most further lines that are named by number."""
DEFINITION_PATTERN = re.compile(r"\d+: (async def|def|class|func|fn)\b")


def search_tree(args: Mapping[str, Any], context: ToolContext) -> ToolOutcome:
    if not args["text"].strip():
        raise ModelMistake("search: text is empty")
    where = normalize_scope(args.get("path", ""))
    if is_archive_address(where) and where not in context.files.paths():
        return search_archive(where, args["text"], context)
    paths = [path for path in context.files.paths() if is_within_scope(path, where)]
    if where and not paths:
        raise ModelMistake(f"search: no file lies under {where!r}; without `path` all are searched")
    known = [hit for hit in context.insight.find(args["text"], context.files) if is_within_scope(hit.path, where)]
    for flags, note in ((0, ""), (re.IGNORECASE, "(ignoring case)\n")):
        if text_hits := find_text_hits(re.compile(re.escape(args["text"]), flags), paths, context):
            return ToolOutcome(note + (group_hits(known, text_hits) if known and not flags else render_hits(text_hits)))
    return ToolOutcome(f"no hit for {args['text']!r} in {format_count(len(paths), 'file')}", ok=True)


def group_hits(known: Sequence[SearchHit], found: Mapping[str, Sequence[str]]) -> str:
    """Definitions, uses, then the lines that are neither."""
    told = {(hit.path, hit.line) for hit in known}
    rest = {path: [line for line in lines if (path, int(line.partition(":")[0])) not in told] for path, lines in found.items()}
    parts = [
        ("defined", group_by_file(known, True)),
        ("used", group_by_file(known, False)),
        ("besides", {path: lines for path, lines in rest.items() if lines}),
    ]
    return "\n".join(f"{title}:\n{render_hits(lines)}" for title, lines in parts if lines)


def group_by_file(known: Sequence[SearchHit], defines: bool) -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for hit in known:
        if hit.defines is defines:
            lines.setdefault(hit.path, []).append(f"{hit.line}: {hit.text}")
    return lines


def find_text_hits(pattern: re.Pattern[str], paths: list[str], context: ToolContext) -> dict[str, list[str]]:
    text_hits: dict[str, list[str]] = {}
    for path in paths:
        text = read_text(context.files, path)
        if text and pattern.search(text) and pattern.search(shown := redact_secrets(text)):
            lines = enumerate(shown.splitlines(), 1)
            text_hits[path] = [f"{number}: {line.strip()[:160]}" for number, line in lines if pattern.search(line)]
    return text_hits


def render_hits(found: Mapping[str, Sequence[str]]) -> str:
    """In the order of the lines. If a file has too many hits, show its definitions and name the lines of the others."""
    parts, most = list[str](), max(MIN_HITS_PER_FILE, MAX_HITS // len(found))
    for path, lines in list(found.items())[:MAX_FILES]:
        ranked = sorted(range(len(lines)), key=lambda at: (not DEFINITION_PATTERN.match(lines[at]), at))
        kept, left = sorted(ranked[:most]), sorted(ranked[most:])
        numbers = join_first([lines[at].partition(":")[0] for at in left], MAX_NAMED_LINES)
        more = [f"… {len(left)} more: {numbers}"] if left else []
        parts.append("\n  ".join([path, *[lines[at] for at in kept], *more]))
    rest = f"\n… and {len(found) - MAX_FILES} more files" if len(found) > MAX_FILES else ""
    return "\n".join(parts) + rest


tool = FunctionTool(
    make_tool_schema("search", "Find text or a name in a folder, file or @id.", ("path",), text="", path=""),
    search_tree,
)
