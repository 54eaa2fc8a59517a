"""Files where work is most likely to go wrong: changed often, and intricate."""

from math import log2

from afresh.insight.fingerprint.measured import measured
from afresh.insight.fingerprint.sources import Sources
from afresh.insight.fingerprint.style import text_of

LARGEST = 600_000
LOOKED = 30
MOST = 5
OFTEN = 5
HARD = 16
"""Files that are measured and that are named; commits from which on a file changes often, decisions from which on it is hard."""


def hot(sources: Sources) -> tuple[str, ...]:
    """By commits times decisions, in steps of forty percent, so that a few lines more change nothing."""
    code = sources.code
    often = {path: commits for path in sources.understood if (commits := code.churn(path).commits) >= OFTEN}
    likely = sorted(often, key=lambda path: (-round(log2(often[path]) + log2(1 + code.reading(path).lines)), path))
    hard = {path: decisions for path in likely[:LOOKED] if (decisions := intricacy(sources, path)) >= HARD}
    heat = {path: round(2 * log2(often[path] * hard[path])) for path in hard}
    return tuple(sorted(heat, key=lambda path: (-heat[path], path))[:MOST])


def intricacy(sources: Sources, path: str) -> int:
    """Decisions in a file of Python; of others their lines, tenfold fewer."""
    return measured(text_of(sources, path, LARGEST)).decisions if path.endswith(".py") else sources.code.reading(path).lines // 10
