"""The source tree in a few lines: path, length and what each file defines."""

import ast
import re
from pathlib import PurePosixPath

from afresh.domain.state import State
from afresh.insight.complexity import FunctionNode
from afresh.insight.source import Source
from afresh.insight.tree import Tree, is_test

LONGEST, LINE, LISTED = 9_000, 220, 400
"""Characters: of the whole, more than a window has room for; of one file; of a list of others."""


READ = (".md", ".rst", ".toml", ".cfg", ".txt", ".yaml", ".yml")


def outline(tree: Tree, state: State) -> str:
    """Files that the task speaks of come first, tests last; what does not fit is counted."""
    words = mentioned(state)
    ranked = sorted(tree.sources.values(), key=lambda source: (rank(source.path, state, words), source.path))
    lines, left = _fitting([_line(source) for source in ranked])
    if left:
        tests = sum(is_test(source.path) for source in ranked[len(ranked) - left :])
        lines.append(f"… and {left} more Python files ({tests} of them tests): use search")
    if tree.skipped:
        lines.append("not understood: " + _listed([f"{path} ({why})" for path, why in sorted(tree.skipped.items())]))
    other = sorted((path for path in tree.paths if not path.endswith(".py")), key=lambda path: (unlikely(path, words), path))
    if other:
        sources = sum(not is_test(source.path) for source in ranked)
        lines.insert(min(sources, len(lines)), "other files: " + _listed(other))
    return "\n".join(lines)


def unlikely(path: str, words: frozenset[str]) -> int:
    """What the task speaks of, what people read, the rest, what is hidden."""
    if path in words or PurePosixPath(path).name in words:
        return 0
    if path.startswith(".") or "/." in path:
        return 3
    return 1 if path.endswith(READ) else 2


def mentioned(state: State) -> frozenset[str]:
    """Words of the goal, the user, the plan and the facts."""
    texts = [state.task.goal, *state.words, *(item.text for item in state.plan)]
    texts += [f"{fact.subject} {fact.text}" for fact in state.facts]
    return frozenset(re.findall(r"[\w./-]+", " ".join(texts)))


def rank(path: str, state: State, words: frozenset[str]) -> int:
    pure = PurePosixPath(path)
    if path in words or path in state.changed:
        return 0
    if any(region.path == path for region in state.regions) or pure.name in words or (pure.stem in words and len(pure.stem) > 3):
        return 1
    return 3 if is_test(path) else 2


def _fitting(lines: list[str]) -> tuple[list[str], int]:
    kept: list[str] = []
    room = LONGEST - 2 * LISTED - 100
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept, len(lines) - len(kept)


def _line(source: Source) -> str:
    names = [text for statement in source.tree.body if (text := _definition(statement))]
    line = f"{source.path} ({len(source.lines)} lines): "
    shown: list[str] = []
    for number, name in enumerate(names):
        if len(line) + sum(len(one) + 2 for one in shown) + len(name) > LINE:
            shown.append(f"… {len(names) - number} more")
            break
        shown.append(name)
    return (line + ", ".join(shown)).rstrip(": ")


def _definition(statement: ast.stmt) -> str:
    if isinstance(statement, FunctionNode):
        return statement.name
    if isinstance(statement, ast.ClassDef):
        methods = [inner.name for inner in statement.body if isinstance(inner, FunctionNode) and not inner.name.startswith("_")]
        more = ", …" if len(methods) > 6 else ""
        return f"class {statement.name}" + (f"({', '.join(methods[:6])}{more})" if methods else "")
    return ""


def _listed(names: list[str]) -> str:
    kept = names[:24]
    while len(kept) > 1 and len(", ".join(kept)) > LISTED - 20:
        kept.pop()
    more = len(names) - len(kept)
    return ", ".join(kept)[: LISTED - 20] + (f" and {more} more" if more else "")
