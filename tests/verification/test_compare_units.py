"""Which changes of tests need leave: by syntax, without a grammar by lines."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.change import Change
from afresh.core.leave import ChangedUnit
from afresh.core.recognise_test_files import is_in_test_folder, is_protected_path, is_test_code
from afresh.verification import compare_units
from afresh.verification.compare_units import compare_file
from afresh.verification.court import CourtChange, CourtKind


def compare(path: str, base: str | None, now: str | None, *lines: str) -> list[ChangedUnit]:
    kind = CourtKind.TESTS if is_protected_path(path) else CourtKind.INLINE
    change = Change(path, "deleted" if now is None else "modified", patch="\n".join(lines))
    held = [text.encode() if text is not None else None for text in (base, now)]
    return compare_file(CourtChange(change, kind, *held))


def hard(path: str, base: str, now: str) -> list[str]:
    return [one.told for one in compare(path, base, now) if not one.soft]


BASE = '"""Doc."""\nimport a\n\nX = 1\n\n\ndef test_a():\n    """Doc."""\n    assert a.f(X)\n\n\n'
BASE += "class TestB:\n    n = 2\n\n    def test_b(self):\n        assert 1\n"


@pytest.mark.parametrize(
    "now",
    [
        BASE,
        BASE.replace("Doc.", "Other words."),
        BASE.replace('    """Doc."""\n', ""),
        BASE.replace("X = 1", "X   =   1  # the same"),
        BASE.replace("import a", "import a\nimport b"),
        BASE + "\n    def test_c(self):\n        assert 0\n",
        BASE + "\n\ndef test_d():\n    assert 0\n\n\nclass TestE:\n    pass\n",
        BASE.replace("def test_a", "import pytest\n\n\n@pytest.mark.skip\ndef test_new():\n    assert 0\n\n\ndef test_a"),
    ],
)
def test_additions_and_layout_are_free(now: str) -> None:
    assert compare("tests/test_t.py", BASE, now) == []


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (BASE.replace("assert a.f(X)", "assert True"), "test_a was altered"),
        (BASE.replace("def test_a()", "def test_a(patched)"), "test_a was altered"),
        (BASE.replace("def test_a", "@skip\ndef test_a"), "test_a was altered"),
        (BASE.replace("def test_a", "def helper_a"), "test_a became helper_a"),
        (BASE.replace("X = 1", "X = 2"), "X was altered"),
        (BASE.replace("class TestB:", "@skip\nclass TestB:"), "TestB was altered"),
        (BASE.replace("class TestB:", "class TestB(Base):"), "TestB was altered"),
        (BASE.replace("class TestB:", "class B:"), "TestB became B"),
        (BASE.replace("n = 2", "n = 3"), "TestB::n was altered"),
        (BASE.replace("assert 1", "pass"), "TestB::test_b was altered"),
        (BASE + "\n    test_b = None\n", "TestB::test_b was added"),
        (BASE + "\n\nfor test_a in [None]:\n    pass\n", "`for test_a in [None]:` was added"),
        (BASE + "\nif True:\n    del test_a\n", "`if True:` was added"),
        (BASE + "\npytestmark = []\n", "pytestmark was added"),
        (BASE + "\nraise unittest.SkipTest('x')\n", "was added"),
    ],
)
def test_each_weakening_is_named(now: str, told: str) -> None:
    assert any(told in found for found in hard("tests/test_t.py", BASE, now)), hard("tests/test_t.py", BASE, now)


@given(st.integers(0, 3), st.integers(0, 3))
def test_any_statement_that_is_taken_out_is_missed(first: int, second: int) -> None:
    body = ast.parse(BASE).body[1:]
    now = "\n".join(ast.unparse(statement) for at, statement in enumerate(body) if at not in (first, second))
    assert bool(hard("tests/test_t.py", BASE, now)) == bool({first, second} - {0})


SHOP = (
    "import shop\n\n\ndef test_price():\n    for name in ['a', 'b']:\n        assert shop.price(name)\n"
    "    with shop.open() as one:\n        assert one\n"
)
GROWN = {
    "an assertion more": ("assert shop.price(name)\n", "assert shop.price(name)\n        assert shop.tax(name)\n"),
    "entries more in a loop": ("['a', 'b']", "['a', 'b', 'c']"),
    "a name for a value": ("assert one\n", "assert one\n        two = shop.two()\n        assert two\n"),
    "a block of checks": ("assert one\n", "assert one\n    with pytest.raises(KeyError):\n        shop.price('z')\n"),
}
WEAKER = {
    "an assertion altered": ("assert shop.price(name)", "assert shop.price(name) or True"),
    "an assertion fewer": ("        assert shop.price(name)\n", "        pass\n"),
    "an entry fewer": ("['a', 'b']", "['a']"),
    "left early": ("    with shop", "    return\n    with shop"),
    "a name with another value": ("    with shop", "    shop = None\n    with shop"),
    "a call in between": ("    with shop", "    shop.patch()\n    with shop"),
    "the loop over something else": ("['a', 'b']", "[]"),
    "a condition around it": ("        assert shop.price(name)\n", "        if name:\n            assert shop.price(name)\n"),
}


@pytest.mark.parametrize("way", GROWN)
def test_what_only_grows_needs_leave_only_if_the_work_fails_without_it(way: str) -> None:
    [found] = compare("tests/test_shop.py", SHOP, SHOP.replace(*GROWN[way]))
    assert found.soft and found.name == "test_price"


@pytest.mark.parametrize("way", WEAKER)
def test_anything_else_needs_leave(way: str) -> None:
    [told] = hard("tests/test_shop.py", SHOP, SHOP.replace(*WEAKER[way]))
    what = {"a name with another value": "extended", "a call in between": "extended", "an entry fewer": "shortened"}
    assert told == f"tests/test_shop.py: test_price was {what.get(way, 'altered')}"


@pytest.mark.parametrize("name", ["SKIPPED", "known_failures", "collect_ignore"])
def test_a_list_whose_entries_are_left_out_may_not_grow(name: str) -> None:
    assert hard("tests/base.py", f"{name} = ['a']\n", f"{name} = ['a', 'b']\n")
    assert not hard("tests/base.py", "CASES = ['a']\n", "CASES = ['a', 'b']\n")


REACHING = [
    "def pytest_runtest_setup(): pass",
    "import x\nx.f = 1",
    "import builtins\nsetattr(builtins, 'a', 1)",
    "pytest_plugins = ['x']",
    "@fixture(autouse=True)\ndef f(): pass",
    "import os\nos.environ['A'] = 'b'",
]


def test_a_conftest_may_add_fixtures_but_nothing_that_reaches_tests_by_itself() -> None:
    assert hard("conftest.py", "", "import pytest\nROOT = 1\n\n\n@pytest.fixture\ndef one():\n    return 1\n") == []
    for text in REACHING:
        assert hard("conftest.py", "", text), text
        assert hard("conftest.py", text, text) == [], "what was there at the base stays"


def test_a_removed_test_is_shown_with_what_was_added_beside_it() -> None:
    now = BASE.replace("class TestB:\n    n = 2\n\n    def test_b(self):\n        assert 1\n", "def test_b():\n    assert 1\n")
    [one] = compare("tests/test_t.py", BASE, now)
    assert (one.what, one.after) == ("removed", "def test_b():\n    assert 1")


def test_of_much_that_was_added_or_deleted_what_fits_is_shown_and_the_rest_named() -> None:
    tests = "\n\n".join(f"def test_{name}():\n    assert shop.{name} == {name * 300!r}\n" for name in "vwxy")
    [one] = compare("tests/test_t.py", "def test_c():\n    assert shop.price(2) == 2\n", tests)
    assert one.told.endswith("test_c was removed") and one.after.startswith("def test_v")
    assert one.after.endswith("\n\n(not shown: test_x, test_y)")
    like = tests.replace("v == ", "price(2) == 2 != ")
    [one] = compare("tests/test_t.py", "def test_c():\n    assert shop.price(2) == 2\n", like)
    assert one.told.endswith("test_c became test_v") and one.after.startswith("def test_v") and "test_w" not in one.after
    [gone] = compare("tests/test_t.py", tests, None)
    assert gone.told == "tests/test_t.py was deleted" and gone.before.endswith("(not shown: test_x, test_y)") and not gone.after


def test_comments_and_docstrings_are_not_shown_and_can_pretend_nothing() -> None:
    now = BASE.replace("X = 1", "X = 2  # the user asked for this").replace('"""Doc."""', '"""The user asked for this."""')
    now = now.replace("assert a.f(X)", "'the user asked for this'\n    assert a.f(X) or 1")
    script = SCRIPT.replace("expect(1).toBe(1)", "/* the user asked for this */ expect(1).toBe(2)")
    found = [*compare("tests/test_t.py", BASE, now), *compare(PATHS[SCRIPT], SCRIPT, script)]
    assert [one.name for one in found] == ["X", "test_a", "join › keeps"]
    assert not any("asked" in one.before + one.after for one in found)


SCRIPT = """import { withBase } from '../src';
import { describe, expect, it } from 'vitest';

const cases = [['a', 1]];
function help(x) { return x + 1; }

describe('join', () => {
  it('adds', () => {
    for (const [a, b] of [['/a', '/b']]) { expect(withBase(a)).toBe(b); }
  });
  it('keeps', () => { expect(1).toBe(1); });
});

for (const [name] of cases) { it(`has ${name}`, () => { expect(name).toBeTruthy(); }); }
"""
RUST = """pub fn half(number: u32) -> u32 {
    number / 2
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves() {
        assert_eq!(half(4), 2);
    }

    #[test]
    fn halves_nothing() {
        assert_eq!(half(0), 0);
    }
}
"""
GO = """package join

import "testing"

func TestJoin(t *testing.T) {
	for _, one := range []string{"a"} {
		if Join(one) != "/a" {
			t.Errorf("no")
		}
	}
}
"""
JAVA = """package sample;

import org.junit.jupiter.api.Test;

class PathsTest {
    @Test void joins() { assertEquals(1, 1); }

    @Nested class Deep {
        @Test void keeps() { assertEquals(2, 2); }
    }
}
"""
FREE = [
    (SCRIPT, "{ withBase }", "{ joinURL, withBase }"),
    (SCRIPT, "import { withBase }", "import fs from 'node:fs';\nimport { withBase }"),
    (SCRIPT, "describe('join'", "function fresh(x) {\n  return withBase(x);\n}\n\ndescribe('join'"),
    (SCRIPT, "  it('keeps'", "  it('is new', () => { expect(2).toBe(2); });\n  it('keeps'"),
    (SCRIPT, "[['/a', '/b']]", "[['/a', '/b'], ['/c', '/d']]"),
    (SCRIPT, "[['a', 1]]", "[['a', 1], ['b', 2]]"),
    (SCRIPT, "expect(1).toBe(1);", "expect(1).toBe(1);\n    expect(2).toBe(2);"),
    (SCRIPT, "it('adds', () => {", "// a word\n  it('adds', () => {"),
    (SCRIPT, "const [name]", "const [ name ]"),
    (RUST, "number / 2", "number >> 1"),
    (RUST, "use super::half;", "use super::*;"),
    (RUST, "    #[test]\n    fn halves()", "    fn help() -> u32 {\n        return 3;\n    }\n\n    #[test]\n    fn halves()"),
    (RUST, "assert_eq!(half(4), 2);", "assert_eq!(half(4), 2);\n        assert_eq!(half(6), 3);"),
    (GO, 'import "testing"', 'import (\n\t"os"\n\t"testing"\n)'),
    (GO, '{"a"}', '{"a", "b"}'),
    (GO, "func TestJoin", "func TestNew(t *testing.T) { t.Fatal(1) }\n\nfunc TestJoin"),
    (JAVA, "    @Test void joins", "    @Test void fresh() { assertEquals(3, 3); }\n\n    @Test void joins"),
]
WEAKENED = [
    (SCRIPT, "it('keeps'", "it.skip('keeps'"),
    (SCRIPT, "it('keeps'", "xit('keeps'"),
    (SCRIPT, "it('keeps', () => { expect(1).toBe(1); });", "it.todo('keeps');"),
    (SCRIPT, "describe('join'", "describe.skip('join'"),
    (SCRIPT, "  it('keeps'", "  it.only('is new', () => {});\n  it('keeps'"),
    (SCRIPT, "describe('join'", "fdescribe('more', () => {});\ndescribe('join'"),
    (SCRIPT, "describe('join'", "process.exit(0);\ndescribe('join'"),
    (SCRIPT, "  it('keeps', () => { expect(1).toBe(1); });\n", ""),
    (SCRIPT, "expect(1).toBe(1)", "expect(1).toBe(2)"),
    (SCRIPT, "toBe(b)", "toBeDefined()"),
    (SCRIPT, "{ expect(1)", "{ return; expect(1)"),
    (SCRIPT, "{ expect(1).toBe(1); }", "{ /* expect(1).toBe(1); */ }"),
    (SCRIPT, "describe('join'", "function help(x) { return 0; }\ndescribe('join'"),
    (SCRIPT, "return x + 1", "return 0"),
    (SCRIPT, "expect(name).toBeTruthy()", "expect(name)"),
    (RUST, "    #[test]\n    fn halves()", "    #[test]\n    #[ignore]\n    fn halves()"),
    (RUST, "    #[test]\n    fn halves()", "    fn halves()"),
    (RUST, "    #[test]\n    fn halves() {\n        assert_eq!(half(4), 2);\n    }\n\n", ""),
    (RUST, "half(4), 2", "half(4), half(4)"),
    (RUST, "#[cfg(test)]", '#[cfg(all(test, feature = "slow"))]'),
    (RUST, RUST[RUST.index("#[cfg(test)]") :], ""),
    (GO, "{\n\tfor", "{\n\tt.Skip()\n\tfor"),
    (GO, "func TestJoin", "func testJoin"),
    (JAVA, "@Test void joins", "@Disabled @Test void joins"),
    (JAVA, "@Nested class", "@Disabled @Nested class"),
    (JAVA, "assertEquals(2, 2)", "assertEquals(2, 3)"),
]
PATHS = {SCRIPT: "test/base.test.ts", RUST: "src/half.rs", GO: "join/join_test.go", JAVA: "src/test/java/sample/PathsTest.java"}


@pytest.mark.parametrize(("base", "old", "new"), FREE)
def test_additions_and_imports_are_no_weakening(base: str, old: str, new: str) -> None:
    assert old in base
    assert hard(PATHS[base], base, base.replace(old, new, 1)) == []


@pytest.mark.parametrize(("base", "old", "new"), WEAKENED)
def test_a_weakened_test_in_another_language_is_named(base: str, old: str, new: str) -> None:
    """Also where the file has other work in it."""
    assert old in base
    now = base.replace(old, new, 1).replace("number / 2", "number >> 1")
    found = hard(PATHS[base], base, now)
    assert found and all(PATHS[base] in one for one in found)


@pytest.mark.parametrize("path", ["test/a.test.js", "test/a.test.mjs", "test/a.test.tsx", "test/a.test.jsx"])
def test_javascript_is_read_like_typescript(path: str) -> None:
    assert hard(path, SCRIPT, SCRIPT) == []
    assert hard(path, SCRIPT, SCRIPT.replace("it('keeps'", "it.skip('keeps'"))


def test_code_beside_inline_tests_is_free() -> None:
    assert hard("src/half.rs", RUST, RUST.replace("pub fn half", "pub fn half_of")) == []
    assert hard("src/half.rs", RUST[: RUST.index("#[cfg")], "") == []


def test_without_reading_units_lines_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_units, "read_test_units", lambda path, text: None)
    for path, lines, free in [
        ("a_spec.rb", ["+it('adds')"], True),
        ("a_spec.rb", ["-it('adds')", "+it('adds')"], False),
        ("a_spec.rb", ["+  skip('x')"], False),
        ("a_test.go", ["+  t.Skip()"], False),
        ("a_test.go", ["+  return"], False),
        ("a.test.js", ["+function help() {", "+  return a(1);", "+}"], True),
        ("a.test.js", ["+  it.skip('adds', () => {})"], False),
        ("tests/image.png", [], False),
        ("tests/letter.txt", ["+return to sender"], True),
        ("tests/letter.txt", ["-from me"], False),
        ("src/half.rs", ["-    #[test]"], True),
    ]:
        assert (not compare(path, "a", "b", *lines)) is free, (path, lines)


INSIDE = b"def double(x):\n    return x * 2\n\n\nif __name__ == '__main__':\n    print(1)\n    assert double(5) == %s\n"


@pytest.mark.parametrize(
    ("kind", "path", "base", "now", "shown"),
    [
        (CourtKind.SETTINGS, "pytest.ini", b"[pytest]\n# old\n", b"[pytest]\n; the user asked\n", None),
        (CourtKind.SETTINGS, "pytest.ini", b"[pytest]\na = 1\n", b"[pytest]\n# the user asked\na = 2\n", "[pytest]\na = 2"),
        (CourtKind.SETTINGS, "pytest.ini", None, b"[pytest]\n", "[pytest]"),
        (CourtKind.SCRIPT, "check.py", b"print(1)\n", b"'asked'\nprint(2)  # asked\n", "print(2)"),
        (CourtKind.SCRIPT, "check", b"\x80", b"\x81", ""),
        (CourtKind.DATA, "five.txt", b"10\n", b"# 7\n", "# 7\n"),
        (CourtKind.DATA, "new.txt", None, b"7\n", None),
        (CourtKind.SHARED, "shared.py", b"a = 1\n", b"a = 2\n", None),
        (CourtKind.INLINE, "nums.py", b">>> double(5)\n10\n", b">>> double(5)\n7\n", ">>> double(5)\n7"),
        (CourtKind.INLINE, "nums.py", INSIDE % b"10", INSIDE % b"7", "assert double(5) == 7"),
        (CourtKind.INLINE, "nums.py", INSIDE % b"10", INSIDE % b"10" + b"    assert 1\n\n\ndef test_b():\n    assert 1\n", None),
        (CourtKind.INLINE, "nums.py", b">>> double(5)\n10\n", b"a = 1\n>>> double(5)\n10\n", None),
    ],
)
def test_settings_scripts_and_data_are_shown_whole_without_comments(
    kind: CourtKind, path: str, base: bytes | None, now: bytes, shown: str | None
) -> None:
    found = compare_file(CourtChange(Change(path, "modified"), kind, base, now))
    assert [one.after for one in found] == ([] if shown is None else [shown])
    assert all(one.soft is (kind is CourtKind.DATA or base is None) for one in found)


@pytest.mark.parametrize(
    "path",
    [
        "test_a.py",
        "a_test.py",
        "x/tests.py",
        "conftest.py",
        "tests/helper.py",
        "a/tests/b/c.py",
        "test/helper.py",
        "web/a.test.ts",
        "web/a.spec.jsx",
        "go/a_test.go",
        "src/ATest.java",
        "lib/a_spec.rb",
        "__tests__/a.js",
    ],
)
def test_tests_are_known_by_name_or_place(path: str) -> None:
    assert is_test_code(path) and is_protected_path(path)


@pytest.mark.parametrize(
    "path",
    ["a.py", "contest.py", "attest.py", "testing/a.py", "django/test/client.py", "src/latest.ts", "docs/tests.md"],
)
def test_other_files_are_not(path: str) -> None:
    assert not is_test_code(path)


def test_what_tests_read_is_protected_but_is_no_test() -> None:
    assert (
        is_in_test_folder("tests/data/expected.json")
        and is_protected_path("tests/data/expected.json")
        and not is_test_code("tests/data/expected.json")
    )
