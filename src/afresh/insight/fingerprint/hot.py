"""Files where work is most likely to go wrong: changed often, and intricate."""

import ast
from math import log2

from afresh.errors import AfreshError
from afresh.insight.complexity import FunctionNode, complexity, cost
from afresh.insight.fingerprint.layout import Sources
from afresh.insight.source import syntax

LOOKED, MOST, OFTEN = 30, 5, 5
"""Files that are measured, files that are named, and commits from which on a file changes often."""


def hot(sources: Sources) -> tuple[str, ...]:
    """By commits times decisions, each in powers of two, so that a few lines more change nothing."""
    code = sources.code
    often = {path: code.churn(path).commits for path in sources.shipped if path in code.files}
    likely = [path for path, commits in often.items() if commits >= OFTEN]
    likely.sort(key=lambda path: (-round(log2(often[path]) + log2(1 + code.reading(path).lines)), path))
    heat = {path: round(log2(often[path])) + round(log2(1 + intricacy(sources, path))) for path in likely[:LOOKED]}
    found = sorted(heat, key=lambda path: (-heat[path], path))
    return tuple(path for path in found if heat[path] >= 6)[:MOST]


def intricacy(sources: Sources, path: str) -> int:
    """Decisions in a file of Python; of others their lines, tenfold fewer."""
    if not path.endswith(".py"):
        return sources.code.reading(path).lines // 10
    try:
        tree = syntax(sources.code.text(path))
    except (OSError, UnicodeError, AfreshError):
        return 0
    return cost(tree.body) if tree else 0


def over(sources: Sources, path: str, limit: int) -> list[str]:
    """Functions of a file of Python that are over a complexity, in reading order."""
    try:
        tree = syntax(sources.code.text(path)) if path.endswith(".py") else None
    except (OSError, UnicodeError, AfreshError):
        return []
    return [node.name for node in ast.walk(tree) if isinstance(node, FunctionNode) and complexity(node) > limit] if tree else []
