"""Any text gives a valid reading whose lines are within the file."""

import random
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tongues import SAMPLES

from afresh.code.languages import registry as languages
from afresh.core.symbol import FileReading
from afresh.errors import suggest_reinstall

PATHS = sorted(SAMPLES)
BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def checked(path: str, text: str) -> FileReading:
    reading = languages.read_source(path, text)
    assert reading.language == languages.detect_language(path)
    for symbol in reading.symbols:
        assert 1 <= symbol.line <= symbol.end <= reading.lines, symbol
        assert symbol.name and symbol.signature and "\n" not in symbol.signature + symbol.doc
    assert all(1 <= one.line <= reading.lines and one.module for one in reading.imports)
    assert list(reading.mentions) == sorted(set(reading.mentions))
    return reading


@given(st.sampled_from(PATHS), st.data())
def test_a_sample_cut_anywhere_is_read(path: str, data: st.DataObject):
    text = SAMPLES[path]
    first, last = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    checked(path, text[first:last])
    checked(path, text[:first] + text[last:])


@given(st.sampled_from(PATHS), st.text(max_size=400))
@example("a.py", "a:\0''")
@example("a.py", 'def f():\n    "\\ud800"\n')
def test_any_text_is_read(path: str, text: str):
    assert all((one.signature + one.doc).encode() for one in checked(path, text).symbols)


@given(st.sampled_from(PATHS), st.binary(max_size=400))
def test_any_bytes_are_read(path: str, content: bytes):
    checked(path, content.decode("utf-8", "replace"))
    checked(path, content.decode("latin-1"))


@pytest.mark.parametrize("path", PATHS)
def test_a_sample_in_disorder_is_read(path: str):
    words = SAMPLES[path].split(" ")
    for seed in range(20):
        random.Random(seed).shuffle(words)
        text = " ".join(words)
        assert checked(path, text).lines == text.count("\n") + (not text.endswith("\n"))


@pytest.mark.parametrize("path", PATHS)
def test_line_ends_and_marks_change_nothing(path: str):
    text = SAMPLES[path]
    plain = checked(path, text)
    assert checked(path, text.replace("\n", "\r\n")) == plain
    assert checked(path, text.replace("\n", "\r")) == plain
    assert checked(path, "\ufeff" + text) == plain


@pytest.mark.parametrize("path", PATHS)
def test_letters_of_many_bytes_move_no_line(path: str):
    plain = checked(path, SAMPLES[path])
    other = checked(path, SAMPLES[path].replace("items", "ïtéms中🛒"))
    assert [(one.name, one.line, one.end) for one in other.symbols if "ï" not in one.name] == [
        (one.name, one.line, one.end) for one in plain.symbols if "items" not in one.name
    ]


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_file_says_nothing_and_has_no_fault(path: str):
    assert checked(path, "") == FileReading(languages.detect_language(path), 0)
    assert checked(path, "\n\n") == FileReading(languages.detect_language(path), 2)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("bracket", sorted(BRACKETS))
def test_any_number_of_brackets_is_read(path: str, bracket: str):
    """More than could be parsed in a day."""
    lines = "\n".join([bracket * 100] * 4_000)
    closed = lines.replace(bracket, BRACKETS[bracket])
    for text in (lines, closed, f"{lines}\n{closed}"):
        assert checked(path, text).fault
    assert checked(path, SAMPLES[path] + bracket * 3_000)


NESTED = {
    "cart.ts": "class {} {{\nrun() {{\n",
    "door.js": "function {}() {{\n",
    "cart.rs": "mod {} {{\nuse super::part;\n",
    "Cart.java": "class {} {{\n",
    "Cart.cs": "class {} {{\n",
}


@pytest.mark.parametrize("path", sorted(NESTED))
def test_definitions_nested_without_end_stay_small(path: str):
    names = ["".join(random.Random(seed).choices("abcdefgh", k=12)) for seed in range(150)]
    reading = checked(path, "".join(NESTED[path].format(name) for name in names) + "}" * 150 * NESTED[path].count("{{"))
    assert len(reading.symbols) > 10 and sum(len(symbol.name) for symbol in reading.symbols) < 10_000


@pytest.mark.parametrize("path", PATHS)
def test_noise_has_a_fault_and_a_sample_has_none(path: str):
    noise = "".join(random.Random(1).choices("(){}[]<>;:@#$%^&*!?/|\\~`'\" \n", k=4_000))
    assert checked(path, noise).fault.startswith("does not parse")
    assert checked(path, SAMPLES[path]).fault == ""


@pytest.mark.parametrize("path", PATHS)
def test_what_was_understood_of_a_broken_file_is_kept(path: str):
    whole = {symbol.name for symbol in checked(path, SAMPLES[path]).symbols}
    broken = checked(path, SAMPLES[path] + "\n}}} )) ((( {{{ ]]\n")
    assert len(whole & {symbol.name for symbol in broken.symbols}) >= len(whole) * 0.8


@pytest.mark.parametrize("path", PATHS)
def test_texts_that_no_person_wrote_are_named(path: str):
    assert "too large" in checked(path, "x;\n" * 400_000).fault
    assert checked(path, "a = b; " * 10_000).fault
    mark = "#" if path.endswith(".py") else "//"
    assert checked(path, f"{mark} <auto-generated/>\n" + SAMPLES[path]).fault == "generated"
    assert checked(path, f"{mark} Code generated by a tool. DO NOT EDIT.\n" + SAMPLES[path]).fault == "generated"


WITHOUT = """
import sys
sys.modules["tree_sitter"] = None
from afresh.code.languages import registry
for path in sys.argv[1:]:
    reading = registry.read_source(path, "class A {}\\n")
    print(reading.language, len(reading.symbols), reading.lines, reading.fault, sep="|")
"""


def test_without_the_grammars_a_reading_says_what_to_install():
    said = subprocess.run([sys.executable, "-c", WITHOUT, *PATHS], capture_output=True, text=True, check=True).stdout
    titles = {"cart.ts": "TypeScript", "cart.tsx": "TypeScript", "door.js": "JavaScript", "cart.go": "Go", "cart.rs": "Rust"}
    titles |= {"Cart.java": "Java", "Cart.cs": "C#", "cart.py": "Python"}
    assert said.splitlines() == [
        f"{languages.detect_language(path)}|0|1|{titles[path]} is not read: {suggest_reinstall()}" for path in PATHS
    ]


LAZY = """
import sys
from afresh.code.languages import registry
from afresh.code.languages import python
assert "tree_sitter" not in sys.modules
registry.read_source("a.py", "x = 1\\n")
assert "tree_sitter_python" in sys.modules and "tree_sitter_go" not in sys.modules
registry.read_source("a.go", "package a\\n")
assert "tree_sitter" in sys.modules and "tree_sitter_go" in sys.modules and "tree_sitter_java" not in sys.modules
"""


def test_a_grammar_is_loaded_with_the_first_file_of_its_language():
    subprocess.run([sys.executable, "-c", LAZY], check=True)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("lib/app.min.js", "function total() {}\n"),
        ("dist/index.mjs", "export function total() {}\n"),
        ("packages/a/dist/deep/index.cjs", "function total() {}\n"),
        ("src/table.js", "function total() {}\n" + "var a=[" + "1," * 2000 + "];\n"),
    ],
)
def test_what_build_tools_made_is_not_read(path: str, text: str):
    reading = languages.read_source(path, text)
    assert reading.fault.startswith("generated") and not reading.symbols


def test_twin_what_people_wrote_is_read():
    for path in ("src/app.js", "src/distance.js", "src/minimum.js", "distribution/a.js"):
        assert not languages.read_source(path, "function total() {}\n").fault


def test_a_file_that_says_that_it_is_minified_is_generated():
    said = "// Tree-shaked + Minified version of punycode\nfunction s(n) {}\n"
    assert languages.read_source("src/punycode.ts", said).fault == "generated"
    assert not languages.read_source("src/a.ts", "// Reads minified files.\nfunction s(n) {}\n").fault
