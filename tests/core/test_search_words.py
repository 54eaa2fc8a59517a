"""Identifiers are found by their parts and as a whole, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.core.search_words import STOP_WORDS, drop_stop_words, split_words

TEXTS = st.text(st.sampled_from("aBcÄßçЖжΣ漢字09 _-./:\\'İ²") | st.characters(), max_size=60)
PLAIN = st.lists(st.text("bcdfg", min_size=2, max_size=6), min_size=2, max_size=4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseHTTPHeader", ["parse", "http", "header", "parsehttpheader"]),
        ("parse_http_header", ["parse", "http", "header", "parsehttpheader"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("PascalCase", ["pascal", "case", "pascalcase"]),
        ("dry-run", ["dry", "run", "dryrun"]),
        ("--dry-run", ["dry", "run", "dryrun"]),
        ("os.path", ["os", "path", "ospath"]),
        ("the URLs", ["the", "urls"]),
        ("__init__", ["init"]),
        ("utf8", ["utf", "8", "utf8"]),
        ("MAX_SIZE", ["max", "size", "maxsize"]),
        ("naïveÄnderung", ["naïve", "änderung", "naïveänderung"]),
        ("漢字", ["漢字"]),
        ("word.", ["word"]),
        ("___ -- //", []),
        ("src/net/http_client.py", ["src", "net", "http", "client", "httpclient", "py", "httpclientpy", "srcnethttpclientpy"]),
        ("tests/test_a.py::test_b", ["tests", "test", "a", "testa", "py", "test", "b", "testb", "testapytestb",
                                     "teststestapytestb"]),
    ],
)  # fmt: skip
def test_what_a_text_is_taken_apart_into(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_words_that_stand_everywhere_tell_nothing() -> None:
    assert drop_stop_words(split_words("make the parser accept a HTTPHeader")) == [
        "parser",
        "accept",
        "http",
        "header",
        "httpheader",
    ]


@given(TEXTS)
def test_words_can_be_looked_up_as_they_are(text: str) -> None:
    for word in split_words(text):
        assert word and word == word.lower() and not set(word) & set(" \t\n_-./:\\\"'*()")


@given(TEXTS, TEXTS)
def test_texts_apart_are_read_one_after_the_other(one: str, other: str) -> None:
    assert split_words(f"{one}\n{other}") == split_words(one) + split_words(other)


@given(PLAIN)
def test_the_ways_to_write_a_compound_are_alike(words: list[str]) -> None:
    pascal = "".join(word.capitalize() for word in words)
    camel = pascal[0].lower() + pascal[1:]
    expected = [*words, "".join(words)]
    assert (
        split_words("_".join(words))
        == split_words(pascal)
        == split_words(camel)
        == split_words("_".join(words).upper())
        == expected
    )
    assert split_words("-".join(words)) == split_words(".".join(words)) == expected


@given(st.lists(st.sampled_from(sorted(STOP_WORDS)) | st.text("xyz", min_size=2, max_size=5)))
def test_only_telling_words_stay_and_in_order(words: list[str]) -> None:
    assert drop_stop_words(words) == [word for word in words if word not in STOP_WORDS and len(word) > 1]
