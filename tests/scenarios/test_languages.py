"""Tests that are not in Python are judged by name, with real runners that need nothing but themselves: node and cargo."""

import os
import pwd
import shutil
from pathlib import Path

import pytest
from person import COMPLETE, Person
from verification_yard import Yard, begin_alike, make_yard

from afresh.core.verdict import Ruling

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
NODE = "node --test"
SUMS = "exports.add = (a, b) => a + b;\nexports.half = (a) => a / 2;\n"
TEST_HEAD = "const { test, describe, it } = require('node:test');\nconst assert = require('node:assert');\n"
TEST_SUMS = (
    TEST_HEAD + "const { add, half } = require('../src/sums');\n\n"
    "describe('add', () => {\n  it('adds', () => assert.strictEqual(add(1, 2), 3));\n});\n\n"
    "test('halves', () => assert.strictEqual(half(4), 2));\n"
)
PROJECT = {
    "src/sums.js": SUMS,
    "test/sums.test.js": TEST_SUMS,
    "package.json": '{"name": "sums", "scripts": {"test": "node --test"}}',
}
ADDS, HALVES = "test/sums.test.js::add › adds", "test/sums.test.js::halves"
BROKEN_HALF = SUMS.replace("a / 2", "a / 3")


def begun_in_node(root: Path, files: dict[str, str] | None = None, check: str = NODE) -> Yard:
    return begin_alike(make_yard(root, {**PROJECT, **(files or {})}, checks=(check,)))


@pytest.mark.promise("Languages")
@needs_node
@pytest.mark.parametrize("check", [NODE, "npm test"])
def test_a_broken_test_is_named_with_what_it_expected(tmp_path: Path, check: str) -> None:
    yard = begun_in_node(tmp_path, check=check)
    yard.folder.write("src/sums.js", BROKEN_HALF)
    verdict = yard.step("src/sums.js")
    assert verdict.ruling is Ruling.FAIL and verdict.regressions == (HALVES,)
    assert HALVES in verdict.reason
    failure = verdict.runs[0].failures[0]
    assert failure.test == HALVES and "+ 1.3333333333333333 - 2" in failure.message and "test/sums.test.js" in failure.detail


NEW_FAILING_TEST = TEST_SUMS + "\ntest('adds words', () => assert.strictEqual(add('a', 1), 'b'));\n"


@needs_node
def test_a_new_test_may_fail(tmp_path: Path) -> None:
    yard = begun_in_node(tmp_path)
    yard.folder.write("test/sums.test.js", NEW_FAILING_TEST)
    verdict = yard.step("test/sums.test.js")
    assert verdict.ruling is Ruling.PASS
    assert "1 new test fails: test/sums.test.js::adds words" in verdict.reason
    assert "2 passed, 1 failed" in verdict.reason


RED_PROJECT = {"src/sums.js": SUMS.replace("a + b", "a - b")}


@needs_node
def test_on_a_red_base_a_newly_broken_test_is_noticed(tmp_path: Path) -> None:
    yard = begun_in_node(tmp_path, RED_PROJECT)
    yard.change("src/sums.js", "a / 2", "a / 3")
    verdict = yard.step("src/sums.js")
    assert verdict.ruling is Ruling.FAIL and verdict.regressions == (HALVES,)


@needs_node
def test_a_file_that_can_not_be_loaded_breaks_the_tests_in_it(tmp_path: Path) -> None:
    yard = begun_in_node(tmp_path)
    yard.folder.write("src/sums.js", "exports.add = (;\n")
    verdict = yard.step("src/sums.js")
    assert verdict.ruling is Ruling.FAIL and verdict.regressions == ("test/sums.test.js",)
    assert "SyntaxError" in verdict.runs[0].failures[0].message


@needs_node
def test_a_verdict_counts_tests(tmp_path: Path) -> None:
    yard = begun_in_node(tmp_path, {"test/more.test.js": TEST_HEAD + "test('more', () => {});\n"})
    yard.change("src/sums.js", "a / 2", "a * 0.5")
    verdict = yard.grade()
    assert verdict.ruling is Ruling.PASS and "3 passed" in verdict.reason


FLAKY_TEST = (
    TEST_HEAD + "const fs = require('node:fs');\ntest('is flaky', () => {\n  const ran = process.env.HOME + '/../ran';\n"
    "  const before = fs.existsSync(ran);\n  fs.writeFileSync(ran, '');\n  assert.ok(before);\n});\n"
)


@needs_node
def test_a_flaky_test_is_set_aside_by_name(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    yard = make_yard(root, {**PROJECT, "test/flaky.test.js": FLAKY_TEST}, checks=(NODE,))
    baseline = yard.baseline()
    assert baseline.flaky == ("test/flaky.test.js::is flaky",)
    (tmp_path / "ran").unlink()
    yard.change("src/sums.js", "a / 2", "a * 0.5")
    verdict = yard.grade()
    assert verdict.ruling is Ruling.PASS and "flaky, deciding nothing: test/flaky.test.js::is flaky" in verdict.reason


@needs_node
def test_the_tests_of_a_change_are_run_and_named(tmp_path: Path) -> None:
    yard = begun_in_node(tmp_path, {"test/more.test.js": TEST_HEAD + "test('more', () => {});\n"})
    yard.insight.tests = ("test/sums.test.js",)
    yard.change("src/sums.js", "a / 2", "a * 0.5")
    verdict = yard.step("src/sums.js")
    assert verdict.runs[0].scope == "targeted: test/sums.test.js" and verdict.runs[0].passed == 2


@needs_node
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("test('halves'", "test.skip('halves'"),
        ("test('halves', () => assert.strictEqual(half(4), 2));\n", ""),
        ("test('halves'", "test.only('other', () => {});\ntest('halves'"),
    ],
)
def test_a_test_that_is_switched_off_is_refused(tmp_path: Path, old: str, new: str) -> None:
    yard = begun_in_node(tmp_path)
    yard.folder.write("src/sums.js", BROKEN_HALF)
    yard.change("test/sums.test.js", old, new)
    verdict = yard.grade()
    assert verdict.ruling is Ruling.FAIL and verdict.unallowed[0].startswith("test/sums.test.js::")


@needs_node
def test_under_any_sandbox_a_run_undoes_a_broken_test_by_name_and_rests_on_the_runners_report(person: Person, confined) -> None:
    """Under Landlock commands have no sockets, and node starts a process for each test file."""
    for path, text in {**PROJECT, "src/sums.js": BROKEN_HALF}.items():
        person.write(path, text)
    person.commit("in JavaScript")
    spoil, mend = (("edit", {"path": "src/sums.js", "old": old, "new": new}) for old, new in (("a + b", "a - b"), ("/ 3", "/ 2")))
    assert person.runs(person.script([spoil], [mend], [COMPLETE]), check="npm test").code == 0
    shown = person.shown()
    assert ADDS in shown["recent"][0]["outcome"] and shown["status"] == "done" and shown["reverted"] == 1
    [run] = shown["verdict"]["runs"]
    assert (run["passed"], run["evidence"]["source"]) == (2, "runner")


TAP = "TAP version 13\nok 1 - adds\n{} 2 - halves\n  ---\n  error: 'expected 2, got 3'\n  ...\n1..2\n" + "# noise\n" * 40
PRINTS_TAP = "cat out.tap; ! grep -q '^not' out.tap"


def test_a_failing_test_is_shown_by_name_though_many_lines_follow_it(tmp_path: Path) -> None:
    yard = begin_alike(make_yard(tmp_path, {"src/sums.js": SUMS, "out.tap": TAP.format("ok")}, checks=(PRINTS_TAP,)))
    yard.folder.write("out.tap", TAP.format("not ok"))
    failure = yard.step("out.tap").runs[0].failures[0]
    assert failure.test == "halves" and "expected 2, got 3" in failure.message


VITEST_STAND_IN = "echo ' Tests  2 passed (2)' # vitest"


def test_a_configuration_that_excludes_tests_needs_leave_and_a_new_one_is_named(tmp_path: Path) -> None:
    yard = begun_in_node(tmp_path, {"vitest.config.ts": "export default {};\n"}, check=VITEST_STAND_IN)
    yard.folder.write("src/sums.js", SUMS + "\n")
    yard.folder.write("vitest.config.ts", "export default { test: { exclude: ['test/sums.test.js'] } };\n")
    assert yard.grade().unallowed == ("vitest.config.ts",)
    (tmp_path / "vitest.config.ts").rename(tmp_path / "vite.config.ts")
    yard.folder.write("vitest.config.ts", "export default {};\n")
    assert "added beside what judges: vite.config.ts" in yard.grade().reason


RUST = {
    "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n',
    "src/lib.rs": (
        "pub fn half(number: u32) -> u32 {\n    number / 2\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
        "    #[test]\n    fn halves() {\n        assert_eq!(half(4), 2);\n    }\n\n"
        "    #[test]\n    fn halves_nothing() {\n        assert_eq!(half(0), 0);\n    }\n}\n"
    ),
}
RUST_TEST = "    #[test]\n    fn halves() {\n        assert_eq!(half(4), 2);\n    }\n\n"


@needs_cargo
def test_inline_tests_of_rust_are_read_by_name_and_protected(tmp_path: Path, monkeypatch) -> None:
    root = tmp_path / "project"
    root.mkdir()
    if (rustup := Path(pwd.getpwuid(os.getuid()).pw_dir) / ".rustup").is_dir() and "RUSTUP_HOME" not in os.environ:
        monkeypatch.setenv("RUSTUP_HOME", str(rustup))  # the home folder of the tests is another
    command = f"CARGO_TARGET_DIR={tmp_path}/target CARGO_NET_OFFLINE=true cargo test"
    yard = make_yard(root, RUST, checks=(command,))
    assert yard.baseline().runs[0].passed == 2
    yard.change("src/lib.rs", "number / 2", "number / 3")
    verdict = yard.step("src/lib.rs")
    assert verdict.regressions == ("src/lib.rs::tests::halves",) and "left: 1" in verdict.runs[0].failures[0].message
    ignored = yard.folder.read("src/lib.rs").replace("fn halves()", "#[ignore]\n    fn halves()")
    deleted = yard.folder.read("src/lib.rs").replace(RUST_TEST, "")
    for cheat in (ignored, deleted):
        yard.folder.write("src/lib.rs", cheat)
        assert yard.grade().unallowed == ("src/lib.rs::tests › halves",)
    yard.folder.write("src/lib.rs", "pub fn half(number: u32) -> u32 {\n    numbers / 2\n}\n")
    failure = yard.step("src/lib.rs").runs[0].failures[0]
    assert "cannot find value `numbers`" in failure.message and "src/lib.rs:2" in failure.detail
