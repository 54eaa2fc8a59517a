"""Files where work is most likely to go wrong: changed often, and intricate."""

from math import log2

from afresh.insight.fingerprint.measured import measure_python_file
from afresh.insight.fingerprint.sources import SourceFiles
from afresh.insight.fingerprint.style import read_source_text

MAX_MEASURED_FILE_CHARACTERS = 600_000
MAX_FILES_MEASURED = 30
MAX_HOT_SPOTS = 5
MIN_COMMITS = 5
MIN_DECISIONS = 16
"""Files that are measured and that are named; commits from which on a file changes often, decisions from which on it is hard."""


def find_hot_spots(sources: SourceFiles) -> tuple[str, ...]:
    """By commits times decisions, in steps of forty percent, so that a few lines more change nothing."""
    code = sources.code
    often = {path: commits for path in sources.understood if (commits := code.churn(path).commits) >= MIN_COMMITS}
    likely = sorted(often, key=lambda path: (-round(log2(often[path]) + log2(1 + code.reading(path).lines)), path))
    hard = {
        path: decisions
        for path in likely[:MAX_FILES_MEASURED]
        if (decisions := measure_intricacy(sources, path)) >= MIN_DECISIONS
    }
    heat = {path: round(2 * log2(often[path] * hard[path])) for path in hard}
    return tuple(sorted(heat, key=lambda path: (-heat[path], path))[:MAX_HOT_SPOTS])


def measure_intricacy(sources: SourceFiles, path: str) -> int:
    """Decisions in a file of Python; of others their lines, tenfold fewer."""
    return (
        measure_python_file(read_source_text(sources, path, MAX_MEASURED_FILE_CHARACTERS)).decisions
        if path.endswith(".py")
        else sources.code.reading(path).lines // 10
    )
