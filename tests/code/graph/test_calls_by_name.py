"""Callers, callees and tests by name, in languages whose types are not inferred."""

import pytest
from asked import place
from trees import Texts

from afresh.code.context_items.related_tests import list_tests_by_use
from afresh.code.graph import calls
from afresh.code.graph.calls_by_name import find_callees_by_name
from afresh.code.index.code_index import CodeIndex, build_code_index

pytest.importorskip("tree_sitter")
WEB = {
    "src/index.ts": "export * from './url';\n",
    "src/url.ts": (
        "import { clean as tidy } from './text';\nimport { other } from './other';\n\n"
        "export function join(a: string, b: string) {\n  // half(a)\n  const said = 'half(a)';\n"
        "  return tidy(a) + half(b) + [].map(half) + this.run(a);\n}\n\n"
        "export function half(a: string) {\n  return a;\n}\n\nexport class Url {\n  run() {\n    return join('a', 'b');\n  }\n}\n"
    ),
    "src/text.ts": "export function clean(a: string) {\n  return a;\n}\nexport function unused() {}\n",
    "src/other.ts": "export const other = { join: 1 };\n",
    "test/url.test.ts": (
        "import { join } from '../src';\n\ndescribe('join', () => {\n  for (const one of ['join']) {\n"
        "    test(`joins ${one}`, () => {\n      expect(join('a', one)).toBe('join');\n    });\n  }\n});\n"
    ),
}
RUST = {
    "src/lib.rs": (
        "mod words;\npub fn half<'a>(text: &'a str) -> &'a str {\n    words::trim(text)\n}\n\n#[cfg(test)]\nmod tests {\n"
        '    use super::*;\n\n    #[test]\n    fn halves() {\n        assert_eq!(half("half("), "");\n    }\n}\n'
    ),
    "src/words.rs": "pub fn trim(text: &str) -> &str {\n    text\n}\n",
}
GO = {
    "go.mod": "module shop\n",
    "price.go": "package shop\n\ntype Cart struct{}\n\nfunc (c Cart) Total() int {\n\treturn round(1)\n}\n",
    "round.go": "package shop\n\nfunc round(n int) int {\n\treturn n\n}\n",
    "price_test.go": 'package shop\n\nfunc TestTotal(t *T) {\n\tTotal := "Total()"\n\tCart{}.Total()\n\tuse(Total)\n}\n',
}
JAVA = {
    "a/Sums.java": "package a;\npublic class Sums {\n  public static int add(int a) {\n    return more(a);\n  }\n"
    "  static int more(int a) {\n    return a;\n  }\n}\n",
    "src/test/java/a/SumsTest.java": "package a;\nimport a.Sums;\nclass SumsTest {\n  @Test\n  void works() {\n"
    '    say("add(");\n    Sums.add(1);\n  }\n}\n',
}


def index(texts: dict[str, str]) -> CodeIndex:
    return build_code_index(Texts(texts))


def callees(code: CodeIndex, name: str, path: str) -> list[tuple[str, bool]]:
    return [
        (f"{one.target.path}:{one.target.symbol.name}", one.sure) for one in find_callees_by_name(code, place(code, name, path))
    ]


def covering(code: CodeIndex, name: str, path: str) -> list[tuple[str, str]]:
    return [(file, test.name) for file, test in list_tests_by_use(code, place(code, name, path))]


def test_what_a_function_calls_is_found_by_name_and_import():
    assert callees(index(WEB), "join", "src/url.ts") == [
        ("src/text.ts:clean", True), ("src/url.ts:half", True), ("src/url.ts:Url.run", False),
    ]  # fmt: skip
    assert callees(index(RUST), "half", "src/lib.rs") == [("src/words.rs:trim", False)]
    assert callees(index(GO), "Cart.Total", "price.go") == [("round.go:round", False)]
    assert callees(index(JAVA), "Sums.add", "a/Sums.java") == [("a/Sums.java:Sums.more", False)]


def test_a_name_that_is_handed_on_is_found_where_it_is_used_and_strings_are_no_uses():
    code = index(WEB)
    found = calls.find_callers(code, place(code, "join", "src/url.ts"))
    assert [(one.path, one.line, one.kind.value, one.sure) for one in found] == [
        ("src/url.ts", 16, "call", True), ("test/url.test.ts", 1, "import", True), ("test/url.test.ts", 6, "call", True),
    ]  # fmt: skip


def test_the_bare_name_of_a_method_is_another_thing():
    code = index(GO)
    found = calls.find_callers(code, place(code, "Cart.Total", "price.go"))
    assert [(one.path, one.line) for one in found] == [("price_test.go", 5)]


def test_tests_that_use_a_function_are_named():
    assert covering(index(WEB), "join", "src/url.ts") == [("test/url.test.ts", "joins ${one}")]
    assert covering(index(RUST), "half", "src/lib.rs") == [("src/lib.rs", "tests.halves")]
    assert covering(index(GO), "Cart.Total", "price.go") == [("price_test.go", "TestTotal")]
    assert covering(index(JAVA), "Sums.add", "a/Sums.java") == [("src/test/java/a/SumsTest.java", "SumsTest.works")]


def test_a_call_on_the_line_of_its_definition_is_found():
    code = index({"a/One.java": "class One { int half() { return 1; } int whole() { return half() + 1; } }\n"})
    (one,) = calls.find_callers(code, place(code, "One.half", "a/One.java")).found
    assert (one.line, one.kind.value) == (1, "call")
