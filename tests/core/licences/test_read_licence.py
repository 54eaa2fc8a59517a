"""Which words allow a task to change tests, and which do not."""

import pytest

from afresh.core.licences.licence_for_tests import EDITS, FROM_GOAL, LicensedChange, Weakening, WeakeningWay
from afresh.core.licences.match_licence import match_licence
from afresh.core.licences.read_licence import read_agreement, read_licences, read_quoted_licences

PATHS = [
    "keys/api.py", "src/parser.py", "tests/base.py", "tests/conftest.py", "tests/slow/test_load.py", "tests/test_parser.py",
    "tests/test_api.py", "pyproject.toml",
]  # fmt: skip
WARN_ABOUT_KEYS = """Warn about keys that are too short

New warning class `ShortKeyWarning`; signing checks the key and issues it.
 - The option's default is False; it belongs in the option types too.

Our test suite turns warnings into errors and uses short keys all over: configure
pytest to ignore the new warning class, and adapt the four tests which count the warnings of an
unsupported keyword argument so that they only count OldWarning.
Document it and add tests.
"""


def subjects(text: str) -> list[tuple[str, str]]:
    return [(entry.subject, ",".join(entry.ways)) for entry in read_licences(text, PATHS, FROM_GOAL)]


EDIT = ",".join(EDITS)


def test_an_order_for_settings_and_for_described_tests_gives_both() -> None:
    words = "count warnings unsupported keyword argument"
    assert subjects(WARN_ABOUT_KEYS) == [("filterwarnings", "configure"), (f"4 tests about {words}", EDIT)]
    [_, tests] = read_licences(WARN_ABOUT_KEYS, PATHS, FROM_GOAL)
    assert tests.most == 4 and tests.quote.startswith("Our test suite turns") and tests.quote.endswith("count OldWarning.")


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("Register the backend and add it to the list in tests/base.py.", [("tests/base.py", "extend")]),
        ("Rework src/parser.py. Update the tests of this module.", [("tests/test_parser.py", EDIT)]),
        ("Rework the parser and update the tests of src/parser.py.", [("tests/test_parser.py", EDIT)]),
        ("update tests/test_api.py", [("tests/test_api.py", EDIT)]),
        ("Update test_api.py", [("tests/test_api.py", EDIT)]),
        ("Remove the test of the old API.", [("1 tests about old api", "remove")]),
        ("The test test_old must be removed.", [("test_old", "remove")]),
        ("remove test_a from tests/test_api.py", [("tests/test_api.py::test_a", "remove")]),
        ("delete TestA::test_b in tests/test_api.py", [("tests/test_api.py::TestA::test_b", "remove")]),
        ("tests/test_api.py::TestA::test_b should be updated to expect 4", [("tests/test_api.py::TestA::test_b", EDIT)]),
        ("change test_foo to expect 3", [("test_foo", EDIT)]),
        ("Rename foo to bar and adapt the tests accordingly.", [("tests", EDIT)]),
        ("Rename the function foo to bar everywhere, also in the tests", [("tests", f"{EDIT},remove")]),
        ("Tests that rely on the old order should be adapted.", [("tests", EDIT)]),
        ("The tests in tests/slow/ should be skipped on Windows", [("tests/slow/", "skip")]),
        ("Update the test.", [("1 tests", EDIT)]),
        ("Adapt the test which expects the old message.", [("1 tests about old message", EDIT)]),
        ("Mark test_a as xfail.", [("test_a", "skip")]),
        ("The tests of set_key expect quotes; please update them.", [("tests about set key setkey quotes", EDIT)]),
        ("Our tests have one set of parameters. Exclude NAME there too.", [("tests about set parameters name", EDIT)]),
        ('The tests which expect "MISSING" must expect a dict', [("tests about missing", EDIT)]),
        ("the test of Transformer with a missing name goes away", [("tests about transformer missing name", "remove")]),
        ("The test of api expects 3; change it to 4.", [("tests about api", EDIT)]),
        ("a() fails. Cases in the tests of these functions do so. Correct those.", [("tests about a", EDIT)]),
        ("tests/test_api.py has the wrong name. Rename it to tests/test_x.py.", [("tests/test_api.py", f"{EDIT},remove")]),
        ("The tests of the old API are obsolete. Remove them.", [("tests about old api obsolete", "remove")]),
        ("Bump coverage: set fail_under in pyproject.toml to 90", [("pyproject.toml::fail_under", "configure")]),
        ("Configure ruff to ignore E501", [("ruff", "configure")]),
        ("yes, you may change tests/test_api.py", [("tests/test_api.py", EDIT)]),
        ("Add an autouse fixture and change the fixtures in tests/conftest.py", [("tests/conftest.py", f"{EDIT},hook")]),
    ],
)  # fmt: skip
def test_orders_give_what_they_speak_of(text: str, given: list[tuple[str, str]]) -> None:
    assert subjects(text) == given


@pytest.mark.parametrize(
    "text",
    [
        "Please add tests.",
        "Please add tests in tests/test_api.py and a changelog line",
        "Fix tests/test_api.py::test_a which fails",
        "tests/test_api.py fails when I change the timeout",
        "When I update tests/test_api.py the cache is stale",
        "I open the file and change the tests in tests/test_api.py, then it crashes",
        "Fix the bug; do not change the tests.",
        "Make it faster without changing the tests in tests/",
        "The tests in tests/test_api.py must not be changed.",
        "Never remove the tests in tests/test_api.py",
        "Do not move or change the tests in tests/test_api.py",
        "Fix it rather than skip or change the tests in tests/test_api.py",
        "Change the parser so that tests pass",
        "Update parse() so that all tests in tests/test_api.py pass",
        "Change the parser and run the tests in tests/test_api.py.",
        "Change the default to 4 (tests/test_api.py has the cases).",
        "Change the timeout in keys/api.py to 3, as tests/test_api.py expects",
        "Update the changelog and add tests",
        "Remove the tests.",
        "See ```change tests/test_api.py``` in the log",
        "Add a fixture to tests/conftest.py",
        "The tests in tests/test_api.py are slow. Cache the parameters and update them.",
        "The tests of set_key expect quotes; do not change them.",
        "The tests pass. The parser is slow; replace it.",
        "Run the tests. Options that are unknown are dropped; update those in the docs.",
    ],
)
def test_what_is_merely_mentioned_told_or_denied_gives_nothing(text: str) -> None:
    assert subjects(text) == []


MODULE = [*PATHS, "tests/snapshots/out.txt", "tests/fixtures/data.json", "tests/test_files.py"]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("The expectation in tests/test_parser.py is wrong.", "tests/test_parser.py"),
        ("The expected value in test_tabs is wrong and has to be 8.", "test_tabs"),
        ("The assertion in test_tabs should be `== 8` instead of `== 4`.", "test_tabs"),
        ("File names in tests/test_files.py are quoted now, so the expected strings there change.", "tests/test_files.py"),
        ("Adjust expectations in tests/test_parser.py.", "tests/test_parser.py"),
        ("test_tabs asserts the old message, please fix it.", "test_tabs"),
        ("This breaks test_tabs, which checked the wrong thing; adjust it.", "test_tabs"),
        ("Fix the tests that assert the old error message.", "tests about old error message"),
        ("A few tests hard-code the path; make them use tmp_path.", "tests about hard code hardcode path"),
        ("Tests which rely on the old default need to pass it explicitly.", "tests"),
        ("If any existing test relies on the old behaviour, update it.", "tests"),
        ("Tests that use it need to be migrated to the new fixture.", "tests"),
        ("When behaviour changes, update the tests of the module.", "tests"),
        ("The tests need updating.", "tests"),
        ("Please also bring the tests in line.", "tests"),
        ("Feel free to change the tests.", "tests"),
        ("You will need to touch tests/test_parser.py as well.", "tests/test_parser.py"),
        ("Regenerate the fixtures.", "tests/fixtures/"),
        ("Update the snapshots.", "tests/snapshots/"),
        ("tests/snapshots must be regenerated.", "tests/snapshots/"),
        ("Snapshots in tests/snapshots come from `make snap`: update them when output changes.", "tests/snapshots/"),
        ("The constants in tests/base.py need adjusting.", "tests/base.py"),
        ("Update KNOWN in tests/base.py and the docs.", "tests/base.py"),
    ],
)
def test_words_of_real_issues_allow_altering_the_tests_that_they_name(text: str, given: str) -> None:
    [entry] = read_licences(text, MODULE, FROM_GOAL)
    assert entry.subject == given and entry.ways == EDITS, "they still run and assert"


def test_an_order_to_drop_the_test_of_what_is_removed_allows_one() -> None:
    [entry] = read_licences("Drop the test for the removed option --fast.", MODULE, FROM_GOAL)
    assert (entry.words, entry.most, entry.ways) == (("option", "fast"), 1, (WeakeningWay.REMOVE,))


@pytest.mark.parametrize(
    "text",
    [
        "Make sure pytest passes.",
        "Let pytest run in under a minute.",
        "Existing tests should not need to be changed.",
        "No existing test should be changed.",
        "None of the tests need updating.",
        "Users must update their tests.",
        "Set the version in pyproject.toml.",
        "Add the dependency to pyproject.toml.",
        "Fix the failing test test_tabs.",
        "test_tabs fails: fix it.",
        "The tests fail on Windows; make them pass.",
        "Tests which use the old default should pass without changes.",
        "Tests that rely on the network should pass again.",
        "The expectations in tests/test_parser.py should be met.",
        "The expectation in test_tabs is right; the code is wrong.",
        "The expected value in the config is wrong.",
        "Refresh the cache before the tests run.",
        "You are not allowed to change the tests.",
        "Fix the old parser that the tests use.",
        "The tests break when the option is set; fix that.",
    ],
)
def test_words_of_real_issues_that_only_sound_like_it_give_nothing(text: str) -> None:
    assert read_licences(text, MODULE, FROM_GOAL) == ()


def test_a_yes_gives_what_the_question_names_and_a_no_gives_nothing() -> None:
    question = "May I change tests/test_api.py::test_a, which expects the old message?"
    [entry] = read_agreement(question, "Yes, go ahead.", PATHS, "answer")
    assert entry.subject == "tests/test_api.py::test_a"
    assert read_agreement(question, "no, do not", PATHS, "answer") == ()
    assert read_agreement(question, "yes, but only the message in the product", PATHS, "answer") == ()
    assert read_agreement("May I change keys/api.py?", "yes", PATHS, "answer") == ()


def test_a_quote_is_read_with_its_whole_sentence_so_that_a_denial_can_not_be_cut_off() -> None:
    assert (
        read_quoted_licences(
            "Do not change the tests in tests/test_api.py.", "change the tests in tests/test_api.py", PATHS, "model"
        )
        == ()
    )
    asked = "It would help to change the tests in tests/test_api.py."
    [entry] = read_quoted_licences(asked, "change the tests in tests/test_api.py", PATHS, "model")
    assert (entry.path, entry.quote) == ("tests/test_api.py", asked)
    assert read_quoted_licences("Please add tests.", "Please add tests", PATHS, "model") == ()


def weakened(name: str, way: WeakeningWay = WeakeningWay.ALTER, path: str = "tests/test_api.py", source: str = "") -> Weakening:
    return Weakening(path, way, f"{path}: {name}", name, source)


def test_a_description_covers_tests_that_it_fits_and_no_more_than_it_speaks_of() -> None:
    entry = LicensedChange(EDITS, words=("count", "warnings", "unsupported", "keyword", "argument"), most=2)
    fitting = [weakened(f"TestA.test_{name}_warns_on_unsupported_kwarg") for name in ("one", "two", "three")]
    strange = weakened("test_sum", source="def test_sum(): assert f(argument='unsupported') == warnings")
    assert [*match_licence([strange, *fitting], [entry])] == fitting[:2]
    assert (
        match_licence([weakened(fitting[0].name, WeakeningWay.SKIP), weakened(fitting[0].name, WeakeningWay.REMOVE)], [entry])
        == {}
    )


def test_an_entry_covers_its_file_its_folder_its_class_and_its_way_only() -> None:
    one = weakened("TestA.test_b")
    assert match_licence([one], [LicensedChange(EDITS, "tests/test_api.py")])
    assert match_licence([one], [LicensedChange(EDITS, "tests/")])
    assert match_licence([one], [LicensedChange(EDITS, "", "TestA")])
    assert match_licence([one], [LicensedChange(EDITS, "", "test_b")])
    assert not match_licence([one], [LicensedChange(EDITS, "tests/test_other.py")])
    assert not match_licence([one], [LicensedChange(EDITS, "", "test")])
    assert not match_licence([one], [LicensedChange((WeakeningWay.REMOVE,), "tests/test_api.py")])
