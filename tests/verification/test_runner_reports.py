"""Results by test name from reports and texts that real runners wrote: see tests/outputs/recorded."""

import json
from pathlib import Path

import pytest

from afresh.outputs.outcomes import ERROR, FAILED, PASSED, SKIPPED
from afresh.outputs.runners import (
    FOLDER_REPORT,
    find_package_folder,
    find_runner_command,
    instrument_runner,
    narrow_runner,
)
from afresh.verification.runner_reports import (
    READERS,
    describe_failed_command,
    parse_package_scripts,
    read_printed_tests,
    read_runner_reports,
)

RECORDED = Path(__file__).parents[1] / "outputs" / "recorded"
JOIN = "test/join.test.js::join › "
IN_FILES = {
    f"{JOIN}joins a path": PASSED,
    f"{JOIN}adds a missing slash": FAILED,
    f"{JOIN}drops a double slash": SKIPPED,
    f"{JOIN}with a query › keeps it": FAILED,
    "test/broken.test.js": ERROR,
}
CASES = {"test/join.test.js::case 1": PASSED, "test/join.test.js::case 2": PASSED}
IN_REPORTS = {
    "jest.json": ("jest.json", IN_FILES | CASES),
    "vitest.json": ("jest.json", IN_FILES | CASES),
    "node.jsonl": (
        "node.jsonl",
        IN_FILES | {f"{JOIN}drops a fragment": SKIPPED, "test/join.test.js::an empty base › gives the path": PASSED},
    ),
    "mocha.json": (
        "mocha.json",
        {
            "test/join.test.js::join joins a path": PASSED,
            "test/join.test.js::join adds a missing slash": FAILED,
            "test/join.test.js::join drops a double slash": SKIPPED,
            "test/join.test.js::join with a query keeps it": FAILED,
            "test/join.test.js::join with a hook": ERROR,
        },
    ),
    "tap.tap": (
        "results.tap",
        {
            "test/broken.js": ERROR,
            "test/fine.js::one": PASSED,
            "test/fine.js::two › should be equal": PASSED,
            "test/join.js::join › joins a path": PASSED,
            "test/join.js::join › adds a missing slash": FAILED,
            "test/join.js::skipped": SKIPPED,
            "test/join.js::with a query › should be equivalent": FAILED,
        },
    ),
    "surefire.xml": (
        "junit.xml",
        {
            "sample.PathsTest::joinsAPath": PASSED,
            "sample.PathsTest::addsAMissingSlash": FAILED,
            "sample.PathsTest::dropsADoubleSlash": SKIPPED,
            "sample.PathsTest::throwsUp": ERROR,
            "sample.PathsTest$WithAQuery::keepsIt": PASSED,
        },
    ),
}
GO = {
    "example.com/sample/join::TestJoin/plain": PASSED,
    "example.com/sample/join::TestJoin/missing_slash": FAILED,
    "example.com/sample/join::TestSkipped": SKIPPED,
    "example.com/sample/join::TestFine": PASSED,
    "example.com/sample/broken": ERROR,
}
IN_TEXTS = {
    "cargo.txt": {
        "src/lib.rs::parse::tests::halves": PASSED,
        "src/lib.rs::parse::tests::refuses_words": PASSED,
        "src/lib.rs::tests::adds_a_missing_slash": FAILED,
        "src/lib.rs::tests::drops_a_double_slash": SKIPPED,
        "src/lib.rs::tests::joins_a_path": PASSED,
        "tests/api.rs::keeps_a_query": FAILED,
        "src/lib.rs::join": PASSED,
    },
    "go.jsonl": GO,
    "go-verbose.txt": GO,
    "node.tap": {
        "/project/test/broken.test.js": ERROR,
        "join › joins a path": PASSED,
        "join › adds a missing slash": FAILED,
        "join › drops a double slash": SKIPPED,
        "join › drops a fragment": SKIPPED,
        "join › with a query › keeps it": FAILED,
        "an empty base › gives the path": PASSED,
    },
}


def recorded(name: str) -> str:
    return (RECORDED / name).read_text()


def read_recorded_report(name: str, report: str):
    found = read_runner_reports({FOLDER_REPORT: "/project\n", report: recorded(name)})
    assert found is not None
    return found


@pytest.mark.parametrize("name", IN_REPORTS)
def test_a_runners_report_names_each_test(name: str) -> None:
    report, expected = IN_REPORTS[name]
    found = read_recorded_report(name, report)
    assert dict(found.tests) == expected
    assert found.named
    said = list(expected.values())
    assert (found.passed, found.failed, found.skipped) == (
        said.count(PASSED),
        said.count(FAILED) + said.count(ERROR),
        said.count(SKIPPED),
    )


@pytest.mark.parametrize("name", IN_TEXTS)
def test_the_text_of_a_runner_names_each_test(name: str) -> None:
    found = read_printed_tests(recorded(name))
    assert found is not None and found.named
    assert dict(found.tests) == IN_TEXTS[name]


@pytest.mark.parametrize(
    ("name", "failing", "counts"),
    [
        ("jest.txt", {f"{JOIN}adds a missing slash", f"{JOIN}with a query › keeps it"}, (3, 3, 1)),
        ("vitest.txt", {f"{JOIN}adds a missing slash", f"{JOIN}with a query › keeps it"}, (3, 3, 1)),
        ("surefire.txt", {"sample.PathsTest::addsAMissingSlash", "sample.PathsTest::throwsUp"}, (2, 2, 1)),
    ],
)
def test_a_text_without_the_names_of_passing_tests_gives_counts_and_what_fails(name, failing, counts) -> None:
    found = read_printed_tests(recorded(name))
    assert found is not None and not found.named
    assert failing <= found.failing
    assert (found.passed, found.failed, found.skipped) == counts


@pytest.mark.parametrize(
    ("name", "test", "expected"),
    [
        ("jest.json", f"{JOIN}adds a missing slash", ('Expected: "/a/b"', 'Received: "/ab"', "test/join.test.js:9:29")),
        ("vitest.json", f"{JOIN}adds a missing slash", ("expected '/ab' to be '/a/b'", "test/join.test.js:9:29")),
        ("node.jsonl", f"{JOIN}adds a missing slash", ("'/ab' !== '/a/b'", "test/join.test.js:7:43")),
        ("node.jsonl", "test/broken.test.js", ("Cannot find module '../src/gone'",)),
        ("mocha.json", "test/join.test.js::join adds a missing slash", ("'/ab' !== '/a/b'",)),
        ("tap.tap", "test/join.js::join › adds a missing slash", ("-/a/b", "+/ab")),
        ("surefire.xml", "sample.PathsTest::addsAMissingSlash", ("expected: </a/b> but was: </ab>", "PathsTest.java:11")),
    ],
)
def test_a_failure_says_what_was_expected_and_where(name, test, expected) -> None:
    found = read_recorded_report(name, IN_REPORTS[name][0])
    failure = next(one for one in found.failures if one.test == test)
    assert all(part in f"{failure.message}\n{failure.detail}" for part in expected)
    assert "node_modules" not in failure.detail and "/project" not in failure.detail and "org.junit" not in failure.detail


def test_cargo_and_go_failures_say_what_was_expected() -> None:
    cargo, go = read_printed_tests(recorded("cargo.txt")), read_printed_tests(recorded("go.jsonl"))
    assert cargo and 'left: "/ab"' in cargo.failures[0].detail and "backtrace" not in cargo.failures[0].detail
    assert go and 'got "/ab", want "/a/b"' in go.failures[0].message
    assert "undefined: gone" in go.failures[1].message


def test_a_report_that_is_none_is_not_believed() -> None:
    for name in ("jest.json", "mocha.json", "node.jsonl", "results.tap", "junit.xml"):
        for text in (
            "",
            "{}",
            "[]",
            '{"testResults": 3}',
            "no",
            "<a",
            '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a/>',
            "\0",
        ):
            assert read_runner_reports({name: text}) is None


@pytest.mark.parametrize("name", ["jest.json", "vitest.json", "node.jsonl", "mocha.json"])
def test_a_title_with_half_a_surrogate_pair_can_be_written_down(name: str) -> None:
    report = IN_REPORTS[name][0]
    text = recorded(name).replace("joins a path", "joins \\ud800")
    found = read_runner_reports({FOLDER_REPORT: "/project\n", report: text})
    assert found is not None and any(test.endswith("joins \ufffd") for test in found.tests)


def test_a_title_without_words_is_left_out() -> None:
    """As vitest 1 gives one to each file."""
    report = json.loads(recorded("vitest.json"))
    for test in (test for file in report["testResults"] for test in file["assertionResults"]):
        test["ancestorTitles"] = ["", *test["ancestorTitles"]]
    found = read_runner_reports({FOLDER_REPORT: "/project", "jest.json": json.dumps(report)})
    assert found is not None and set(found.tests) == set(IN_REPORTS["vitest.json"][1])


def test_an_output_that_was_cut_names_no_missing_test() -> None:
    found = read_printed_tests("[afresh: 5,000 bytes of output left out here]\n" + recorded("cargo.txt"))
    assert found is not None and not found.named


def test_two_crates_with_files_of_one_name_have_their_own_tests() -> None:
    text = "     Running unittests src/lib.rs (target/debug/deps/{}-0123456789abcdef)\n\nrunning 1 test\ntest tests::a ... ok\n\n"
    text += "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    found = read_printed_tests(text.format("one") + text.format("two"))
    assert found is not None and set(found.tests) == {"src/lib.rs::tests::a", "src/lib.rs (two)::tests::a"}


def test_tap_of_parallel_tests_in_braces_is_read() -> None:
    found = read_printed_tests(
        "TAP version 14\nok 1 - test/a.js # time=5ms {\n    ok 1 - adds\n    not ok 2 - halves\n    1..2\n}\n1..1\n"
    )
    assert found is not None and dict(found.tests) == {"test/a.js::adds": PASSED, "test/a.js::halves": FAILED}


def test_a_compiler_error_is_shown_instead_of_the_last_lines() -> None:
    text = """   Compiling a v0.1.0
error[E0425]: cannot find value `x` in this scope
 --> src/lib.rs:3:5
  |
3 |     x
  |     ^ not found

For more information about this error, try `rustc --explain E0425`.
error: could not compile `a` (lib) due to 1 previous error
"""
    said = describe_failed_command("cargo test", text)
    assert said is not None and "cannot find value `x`" in said[0] and "src/lib.rs:3:5" in said[1]


def test_a_failure_without_a_word_is_explained_by_the_output() -> None:
    text = """Error: Cannot find module '../src/gone'
Require stack:
- test/broken.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at Object.<anonymous> (test/broken.js:1:1)
"""
    found = read_runner_reports({"results.tap": recorded("tap.tap")}, text)
    failure = next(one for one in (found.failures if found else ()) if one.test == "test/broken.js")
    assert "Cannot find module '../src/gone'" in failure.message


SCRIPTS = {
    "test": "npm run lint && npm run unit",
    "unit": "vitest run",
    "lint": "eslint .",
    "node": "node --test",
    "later": "jest && eslint .",
    "cover": "c8 --all mocha",
}


VITEST_OPTIONS = '--no-cache --reporter=default --reporter=json --outputFile.json="$AFRESH_REPORTS"/jest.json'


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npx jest", 'npx jest --json --outputFile="$AFRESH_REPORTS"/jest.json'),
        (
            "npm run unit",
            'npm run unit -- --no-cache --reporter=default --reporter=json --outputFile.json="$AFRESH_REPORTS"/jest.json',
        ),
        (
            "npm test",
            'npm test -- -- --no-cache --reporter=default --reporter=json --outputFile.json="$AFRESH_REPORTS"/jest.json',
        ),
        ("pnpm unit", "pnpm unit " + VITEST_OPTIONS),
        ("cd web && npx jest", 'cd web && npx jest --json --outputFile="$AFRESH_REPORTS"/jest.json'),
        ("npm run cover", 'npm run cover -- --reporter json --reporter-option output="$AFRESH_REPORTS"/mocha.json'),
        ("npx tap --no-coverage", 'npx tap --no-coverage --output-file="$AFRESH_REPORTS"/results.tap'),
        ("cargo test", "cargo test --no-fail-fast"),
        ("cargo +stable test --all -- --nocapture", "cargo +stable test --no-fail-fast --all -- --nocapture"),
        ("go test ./...", "go test -json ./..."),
        ("npm run node", "npm run node"),
        ("node --test test/", "node --test test/"),
        ("./mvnw -q test", "./mvnw -q test --fail-at-end"),
    ],
)
def test_a_command_is_made_to_report_each_test(command: str, expected: str) -> None:
    found = find_runner_command(command, SCRIPTS)
    assert found is not None
    assert expected in instrument_runner(found).splitlines()


@pytest.mark.parametrize(
    "command", ["npm run later", "npm run lint", "npm run nothing", "jest | tee x", "make test", "pytest -q", ""]
)
def test_a_command_whose_runner_is_not_known_for_sure_stays_as_it_is(command: str) -> None:
    assert find_runner_command(command, SCRIPTS) is None


def test_scripts_are_read_where_the_command_runs() -> None:
    assert find_package_folder("npm test") == ""
    assert find_package_folder("cd web && yarn unit") == "web"
    assert find_package_folder("npx jest") is None
    assert parse_package_scripts('{"scripts": {"test": "jest", "odd": 3}}') == {"test": "jest"}
    assert parse_package_scripts("no such file") == {}


@pytest.mark.parametrize(
    ("command", "tests", "expected"),
    [
        ("npx vitest run", ["test/a.test.ts"], "npx vitest run test/a.test.ts"),
        ("npx jest", ["test/a.test.ts", "b.test.ts"], "npx jest --runTestsByPath test/a.test.ts b.test.ts"),
        ("npm test", ["test/a.test.ts"], "npm test -- -- test/a.test.ts"),
        ("npm run node", ["test/a.test.js"], "npm run node -- test/a.test.js"),
        ("cd web && npx vitest run", ["web/test/a.test.ts"], "cd web && npx vitest run test/a.test.ts"),
        ("go test ./...", ["join/join_test.go"], "go test ./join"),
        ("cargo test", ["tests/api.rs"], "cargo test --test api"),
        ("cargo test", ["src/lib.rs"], None),
        ("npx vitest run test/b.test.ts", ["test/a.test.ts"], None),
        ("npx jest", ["test/$(x).test.ts"], None),
        ("mvn test", ["src/test/java/ATest.java"], None),
    ],
)
def test_only_what_a_change_concerns_is_run_where_the_runner_allows_it(command, tests, expected) -> None:
    found = find_runner_command(command, SCRIPTS)
    assert found is not None
    assert narrow_runner(found, tests) == expected


DEEP = "[" * 100_000


def test_a_program_that_prints_or_writes_endless_brackets_ends_no_run() -> None:
    assert read_printed_tests(f'{{"Action":"fail","Package":"p","Test":"T","Output":{DEEP}\n') is None
    assert [read_runner_reports({name: DEEP}) for name in READERS] == [None] * len(READERS)
    assert parse_package_scripts(f'{{"scripts":{DEEP}') == {}
