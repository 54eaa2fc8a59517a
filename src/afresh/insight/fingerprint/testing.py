"""How the project's tests are written."""

from collections.abc import Iterator

from afresh.domain.code import SymbolKind
from afresh.insight.fingerprint.rounded import share_to_words
from afresh.insight.fingerprint.sources import SourceFiles, choose_stable_sample

TEST_FEATURES = {
    "parametrize": "parametrised", "fixture": "with fixtures of their own", "tmp_path": "with tmp_path",
    "given": "property tests", "mock": "with mocks", "patch": "with patches", "Mock": "with mocks",
    "monkeypatch": "with monkeypatch",
}  # fmt: skip


def measure_test_style(sources: SourceFiles) -> tuple[str, ...]:
    return tuple(describe_test_habits(sources)) if sources.main == "Python" else ()


def describe_test_habits(sources: SourceFiles) -> Iterator[str]:
    """By the names of the tests and by what their files use."""
    files = choose_stable_sample(
        (path for path in sources.tests if path in sources.known and path.endswith(".py")), MAX_TEST_FILES
    )
    tests = [
        one
        for path in files
        for one in sources.code.reading(path).symbols
        if one.short.startswith("test") and one.kind in TEST_KINDS
    ]
    if len(tests) < 3:
        return
    functions = sum(one.kind is SymbolKind.FUNCTION for one in tests)
    yield (
        "functions, not classes"
        if functions >= 0.9 * len(tests)
        else "methods of classes"
        if functions <= 0.1 * len(tests)
        else "functions and classes"
    )
    words = sorted(one.short.count("_") for one in tests)
    if words[len(words) // 2] >= 5:
        yield "named after behaviour in whole phrases"
    bases = [base for path in files for one in sources.code.reading(path).symbols for base in one.bases]
    if any(base.endswith("TestCase") for base in bases):
        yield "unittest.TestCase in some" if functions else "unittest.TestCase"
    holding = [path for path in files if sources.code.reading(path).symbols]
    told = dict[str, str]()
    for name, words_of in TEST_FEATURES.items():
        users = sum(name in sources.code.reading(path).mentions for path in holding)
        if users * 8 >= len(holding):
            told.setdefault(words_of, f"{words_of} in {share_to_words(users, len(holding))} of the files")
    yield from told.values()


MAX_TEST_FILES = 120
"""Files of tests, at most."""
TEST_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD)
