"""Find text in the tree. Capped per file, not in all, so that one noisy file does not hide the rest."""

import re
from collections.abc import Mapping
from fnmatch import fnmatch
from typing import Any

from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

PER_FILE, FILES = 4, 40


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    if not args["text"].strip():
        raise ModelMistake("search: text is empty")
    paths = [path for path in bench.files.paths() if within(path, args.get("path", ""))]
    for flags, note in ((0, ""), (re.IGNORECASE, "(ignoring case)\n")):
        if found := hits(re.compile(re.escape(args["text"]), flags), paths, bench):
            return Outcome(note + listing(found))
    return Outcome(f"no hit for {args['text']!r} in {len(paths)} files", ok=True)


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


def listing(found: dict[str, list[str]]) -> str:
    """Definitions first within a file; how many more there are is said."""
    parts: list[str] = []
    for path, lines in list(found.items())[:FILES]:
        ranked = sorted(lines, key=lambda line: not re.match(r"\d+: (async def|def|class|func|fn)\b", line))
        more = f"\n  … {len(lines) - PER_FILE} more" if len(lines) > PER_FILE else ""
        parts.append(f"{path}\n  " + "\n  ".join(ranked[:PER_FILE]) + more)
    rest = f"\n… and {len(found) - FILES} more files" if len(found) > FILES else ""
    return "\n".join(parts) + rest


tool = FunctionTool(
    schema("search", "Find literal text in files (path: folder, file or glob).", ("path",), text="", path=""), run
)
