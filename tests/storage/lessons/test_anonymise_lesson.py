"""Lines that may leave a project without a person: everyday words only, none of them the project's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.lesson import Lesson, get_heading_text
from afresh.core.search_words import stem_word
from afresh.storage.lessons.anonymise_lesson import (
    VOCABULARY_FILE,
    ProjectNames,
    anonymise_lesson,
    find_telltales,
    is_common_word,
    load_everyday_stems,
)

TREE = {
    "src/cargo_desk/manifest.py": "class Manifest:\n    def weigh(self):\n        raise ValueError('amount is beyond limit')\n",
    "README.md": "We ship with Meridian, whatever it is.\n",
    "settings.toml": 'deadline = 3\nregion = "quiet harbour"\n',
}


@pytest.fixture(scope="module")
def own() -> ProjectNames:
    own = ProjectNames()
    for path, text in TREE.items():
        own.file(path, text)
    return own


PLAIN = (
    "Clear the buffer before every new request",
    "- Close the file in both cases, otherwise the next reader waits for ever.",
    "The error isn't raised (it was ignored): look at the first line, not at the last one.",
    "Don't sort while it is iterated over.",
)
TELLING = {
    "a path": ("Look into src/io/file.py first", "src/io/file.py"),
    "a file": ("Look into file.py first", "file.py"),
    "an identifier": ("Call read_all before it", "read_all"),
    "a call": ("Call close() before it", "close("),
    "a compound": ("Use the readAll method", "readAll"),
    "code": ("Use `close` there", "`close`"),
    "quoted text": ('It says "closed" there', '"closed"'),
    "a number": ("Wait for 30 seconds", "30"),
    "an address": ("Ask example.org for it", "example.org"),
    "mail": ("Ask me@host for it", "me@host"),
    "a name": ("Ask Monday for it", "Monday"),
    "capitals": ("The XQ header is wrong", "XQ"),
    "an unknown word": ("Flush the zorgle first", "zorgle"),
    "another alphabet": ("Flush the кеш first", "кеш"),
    "a version": ("Since v2 it fails", "v2"),
    "a file's name": ("Read the manifest first", "manifest"),
    "a folder's name": ("Read it at the desk first", "desk"),
    "a setting": ("Mind the deadline there", "deadline"),
    "words of a literal": ("It says amount beyond limit there", "amount beyond"),
    "an option": ("Run it with --quiet", "--quiet"),
    "an assignment": ("Set x=1 there", "x=1"),
}


@pytest.mark.parametrize("line", PLAIN)
def test_everyday_lines_may_leave(own: ProjectNames, line: str):
    assert find_telltales(line, load_everyday_stems(), own) == []


@pytest.mark.parametrize("case", TELLING)
def test_a_line_stays_that_holds(own: ProjectNames, case: str):
    line, what = TELLING[case]
    assert what in find_telltales(line, load_everyday_stems(), own)


def test_a_name_that_everybody_uses_is_found_only_where_it_is_a_name(own: ProjectNames):
    assert find_telltales("Read the manifest first", {"manifest"}, ProjectNames()) == []
    proper = ProjectNames()
    proper.file("notes.md", "we call it Harbour here")
    assert find_telltales("Read the harbour first", {"harbour"}, proper) == ["harbour"]


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=80), st.sampled_from(PLAIN), st.integers(0, 60))
def test_whatever_is_put_into_a_plain_line_must_be_everyday_words(put: str, line: str, at: int):
    """Nothing gets past the check but letters that make known words, and the marks of a sentence."""
    text = line[:at] + " " + put + " " + line[at:]
    if not find_telltales(text, load_everyday_stems(), ProjectNames()):
        assert not any(sign.isdigit() or sign in '_/\\`"@=#<>[]{}|~$%^&+*' for sign in put.replace("* ", "").replace("- ", ""))
        assert all(sign.isascii() or sign.isspace() or sign == "–" for sign in put)


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=14))
def test_a_word_that_nobody_knows_never_passes(word: str):
    known = stem_word(word) in load_everyday_stems() or not find_telltales(word, (), ProjectNames())
    assert known or find_telltales(f"Look at the {word} first", load_everyday_stems(), ProjectNames()) == [word]


UNCOMMON = sorted(word for word in VOCABULARY_FILE.read_text("utf-8").split() if not is_common_word(word))
AS_NAMES = {
    "a file": lambda word: (f"src/{word}.py", ""),
    "a folder": lambda word: (f"{word}/x.py", ""),
    "a part of a file's name": lambda word: (f"x_{word}.py", ""),
    "a function": lambda word: ("x.py", f"def {word}():\n    pass\n"),
    "a class": lambda word: ("x.py", f"class Old{word.title()}:\n    pass\n"),
    "a variable": lambda word: ("x.js", f"const {word} = 1\n"),
    "a setting": lambda word: ("x.yaml", f"  {word}: 1\n"),
    "a name in prose": lambda word: ("x.md", f"this is {word.title()} at work\n"),
}


@given(st.sampled_from(UNCOMMON), st.sampled_from(sorted(AS_NAMES)), st.sampled_from(("", "s")))
def test_an_everyday_word_that_the_project_uses_as_a_name_stays(word: str, how: str, ending: str):
    own = ProjectNames()
    own.file(*AS_NAMES[how](word))
    assert f"{word}{ending}" in find_telltales(f"Look at the {word}{ending} first", load_everyday_stems(), own)


@given(st.lists(st.sampled_from(UNCOMMON), min_size=2, max_size=5), st.sampled_from(("'{}'", '"{}"', "# {}", "{}")))
def test_words_that_stand_together_in_the_project_do_not_leave_together(words: list[str], written: str):
    own, phrase = ProjectNames(), " ".join(words)
    own.file("x.txt", written.format(phrase))
    assert find_telltales(f"It says {phrase} there", load_everyday_stems(), own)


def test_only_plain_lines_of_an_object_leave(own: ProjectNames):
    body = (
        "## Problem\nthe second request returns old values\n- failed before: `test_two` 5 != 6\n\n## What worked\n"
        "Clear the buffer before every new request\nThe manifest was kept too long.\n- changed `shape.py`\n\n"
        "## What did not\nReset the buffer at the end\n\n## How it was verified\n- `pytest -q`: 3 passed\n"
    )
    one = Lesson(id="KO-1", title="the second request returns old values", tags=("fix_bug", "manifest", "buffer"), body=body)
    plain = anonymise_lesson(one, load_everyday_stems(), own)
    assert plain and plain.tags == ("buffer",)
    assert get_heading_text(plain.body, "What worked") == "Clear the buffer before every new request"
    assert get_heading_text(plain.body, "Problem") == "the second request returns old values"
    assert "verified" not in plain.body and "manifest" not in plain.body


@pytest.mark.parametrize(
    ("title", "worked"),
    [("the manifest returns old values", "Clear the buffer"), ("it returns old values", "Clear the manifest")],
)
def test_an_object_stays_whole_if_its_title_or_all_that_worked_names_the_project(own: ProjectNames, title: str, worked: str):
    assert (
        anonymise_lesson(Lesson(id="KO-1", title=title, body=f"## What worked\n{worked}\n"), load_everyday_stems(), own) is None
    )
