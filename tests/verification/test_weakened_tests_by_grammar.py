"""Tests in JavaScript, TypeScript, Rust, Go and Java are protected by syntax; without the grammars by lines."""

import pytest

from afresh.core.change import Change
from afresh.core.task import Check
from afresh.verification import weakened_tests_by_grammar
from afresh.verification.check_configuration import find_changed_settings, is_check_configuration
from afresh.verification.weakened_tests_by_grammar import (
    find_weakened_tests_by_grammar,
    find_weakened_tests_elsewhere,
    find_weakenings_by_lines,
    put_back_tests_by_grammar,
)

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
    assert find_weakened_tests_by_grammar(PATHS[base], base, base.replace(old, new, 1)) == ()


@pytest.mark.parametrize(("base", "old", "new"), WEAKENED)
def test_a_weakened_test_is_named_and_put_back_alone(base: str, old: str, new: str) -> None:
    """Also where the file has other work in it, which stays."""
    assert old in base
    now = base.replace(old, new, 1)
    if base == RUST:
        now = now.replace("number / 2", "number >> 1")
    found = find_weakened_tests_by_grammar(PATHS[base], base, now)
    assert found and all(PATHS[base] in one.told for one in found)
    text = put_back_tests_by_grammar(PATHS[base], base, now)
    assert text is not None and find_weakened_tests_by_grammar(PATHS[base], base, text) == ()
    assert base != RUST or "number >> 1" in text


def test_javascript_is_read_like_typescript() -> None:
    for path in ("test/a.test.js", "test/a.test.mjs", "test/a.test.tsx", "test/a.test.jsx"):
        assert find_weakened_tests_by_grammar(path, SCRIPT, SCRIPT) == ()
        assert find_weakened_tests_by_grammar(path, SCRIPT, SCRIPT.replace("it('keeps'", "it.skip('keeps'"))


def test_code_beside_inline_tests_is_free() -> None:
    assert find_weakened_tests_by_grammar("src/half.rs", RUST, RUST.replace("pub fn half", "pub fn half_of")) == ()
    assert find_weakened_tests_by_grammar("src/half.rs", RUST[: RUST.index("#[cfg")], "") == ()


def test_without_grammars_lines_decide(monkeypatch) -> None:
    monkeypatch.setattr(weakened_tests_by_grammar, "parse_test_units", lambda path, text: None)
    assert (
        find_weakened_tests_elsewhere(_change("a.test.js", "-import { a } from './a';", "+import { a, b } from './a';"), "", "")
        == ()
    )
    assert find_weakened_tests_elsewhere(_change("a.test.js", "+function help() {", "+  return a(1);", "+}"), "", "") == ()
    assert find_weakened_tests_elsewhere(_change("a.test.js", "+  it.skip('adds', () => {})"), "", "")
    assert find_weakened_tests_elsewhere(_change("a.test.js", "-  expect(1).toBe(1);"), "", "")
    assert find_weakened_tests_elsewhere(_change("src/half.rs", "-    #[test]"), "", "") == (), "missed by name at completion"


def _change(path: str, *lines: str) -> Change:
    signs = [line[0] for line in lines]
    return Change(path, "modified", signs.count("+"), signs.count("-"), "\n".join(lines))


def test_other_languages_may_only_gain_lines_that_do_not_skip() -> None:
    assert find_weakenings_by_lines(_change("a_spec.rb", "+it('adds')")) == ()
    assert find_weakenings_by_lines(_change("a_spec.rb", "-it('adds')", "+it('adds')"))
    assert find_weakenings_by_lines(_change("a_spec.rb", "+  skip('x')"))
    assert find_weakenings_by_lines(_change("a_test.go", "+  t.Skip()"))
    assert find_weakenings_by_lines(_change("a_test.go", "+  return"))
    assert find_weakenings_by_lines(_change("a_test.go", "+/* all of it"))
    assert find_weakenings_by_lines(Change("tests/image.png", "modified"))
    assert find_weakenings_by_lines(_change("tests/letter.txt", "+return to sender")) == ()
    assert find_weakenings_by_lines(_change("tests/letter.txt", "-from me"))


POM = (
    "<project><version>1</version><dependencies/><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId>"
    "{}</plugin></plugins></build></project>"
)
CARGO = '[package]\nname = "a"\nversion = "0.1.0"\n'


@pytest.mark.parametrize(
    ("path", "base", "now", "check", "refused"),
    [
        ("vitest.config.ts", None, "export default { test: { exclude: ['test/base.test.ts'] } }", "npx vitest run", True),
        ("vitest.config.ts", None, "export default {}", "npm test", True),
        ("vite.config.ts", "export default { base: '/' }", "export default { test: { exclude: ['x'] } }", "npm test", True),
        ("vite.config.ts", "export default { base: '/' }", "export default { base: '/a' }", "npm test", False),
        ("jest.config.js", "module.exports = {}", "module.exports = { testPathIgnorePatterns: ['a'] }", "yarn test", True),
        (".mocharc.yml", None, "ignore: test/a.js\n", "npx mocha", True),
        (".taprc", None, "files: []\n", "npx tap", True),
        ("package.json", '{"scripts": {"test": "jest"}}', '{"scripts": {"test": "true"}}', "npm test", True),
        ("package.json", '{"tap": {}}', '{"tap": {"exclude": ["a"]}}', "npx tap", True),
        ("package.json", '{"dependencies": {}}', '{"dependencies": {"a": "1"}}', "npm test", False),
        ("Cargo.toml", CARGO, CARGO + "autotests = false\n", "cargo test", True),
        ("Cargo.toml", CARGO, CARGO + '[[test]]\nname = "api"\nharness = false\n', "cargo test", True),
        ("Cargo.toml", CARGO, CARGO + "[lib]\ntest = false\n", "cargo test", True),
        ("Cargo.toml", CARGO, CARGO + '[dependencies]\nb = "1"\n', "cargo test", False),
        (".cargo/config.toml", None, '[target.x]\nrunner = "true"\n', "cargo test", True),
        (
            "pom.xml",
            POM.format(""),
            POM.format("<configuration><excludes><exclude>A</exclude></excludes></configuration>"),
            "mvn test",
            True,
        ),
        ("pom.xml", POM.format(""), POM.format("").replace("<version>1<", "<version>2<"), "mvn -q test", False),
        ("build.gradle", "test { useJUnitPlatform() }", "test { useJUnitPlatform()\n exclude '**/A*' }", "./gradlew test", True),
        ("build.gradle", "dependencies { }", "dependencies { implementation 'a:b:1' }", "./gradlew test", False),
        ("vitest.config.ts", None, "export default {}", "pytest -q", False),
    ],
)
def test_configuration_of_runners_is_guarded(path, base, now, check, refused) -> None:
    checks = [Check(check)]
    found = find_changed_settings(path, base, now, checks) if is_check_configuration(path, checks) else ()
    assert bool(found) == refused


ENDLESS = "9" * 5_000
"""More digits than Python reads."""


@pytest.mark.parametrize(
    ("path", "now", "check"),
    [
        ("pyproject.toml", f"[tool.pytest.ini_options]\nx = {ENDLESS}\n", "pytest"),
        ("package.json", f'{{"jest": {ENDLESS}}}', "npx jest"),
        ("Cargo.toml", f"[package]\nx = {ENDLESS}\n", "cargo test"),
        ("Cargo.toml", 'package = "autotests"\n', "cargo test"),
    ],
)
def test_configuration_that_is_none_is_refused_and_breaks_nothing(path: str, now: str, check: str) -> None:
    assert find_changed_settings(path, "", now, [Check(check)])
