"""New functions are named by words that stand in the code; where there are none, nothing is offered."""

import re
from textwrap import dedent

import pytest

from afresh.insight.reshape.extracting import extractions
from afresh.insight.reshape.wording import case_words, comment_words, noun, singular, split, strong
from afresh.insight.source import parse

REST = """
            if settings.one:
                one()
            if settings.two:
                two()
            if settings.three:
                three()
            if settings.four:
                four()
            if settings.five:
                five()
            if settings.six:
                six()
            if settings.seven:
                seven()
            if settings.eight:
                eight()
"""


def offered(body: str, head: str = "def work(settings, rows):") -> list[str]:
    """Names of what is offered for a function that is over the limit by what `body` holds."""
    text = (
        dedent(head)
        + "\n"
        + dedent(body).strip("\n").replace("\n", "\n    ").join(["    ", "\n"])
        + dedent(REST).replace("\n", "\n    ").rstrip()
        + "\n    return rows\n"
    )
    source = parse("m.py", text)
    assert source is not None, text
    return [re.search(r"into (\w+)\(", one.head)[1] for one in extractions(source, source.functions[0], frozenset())]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (
            "# Drop rows that are too old\nfor row in rows:\n    if row.age > 3:\n        if row.kept:\n            forget(row)\n",
            "_drop_rows",
        ),
        (
            "if settings.title:\n    for row in rows:\n        if row.plain:\n            row.title = settings.title\n",
            "_set_title",
        ),
        ("for row in rows:\n    if row.size < 0:\n        if row.strict:\n            raise ValueError(row)\n", "_check_rows"),
        (
            "widths = []\nfor row in rows:\n    if row:\n        if row.wide:\n            widths.append(len(row))\nuse(widths)\n",
            "_collect_widths",
        ),
        (
            "if settings.encoding:\n    encoding = settings.encoding\nelif rows:\n    encoding = rows[0]\nelse:\n    encoding = None\nuse(encoding)\n",
            "_choose_encoding",
        ),
    ],
)
def test_a_name_is_made_of_the_codes_own_words(body, name):
    assert name in offered(body), offered(body)


def test_without_a_word_for_it_nothing_is_offered():
    assert not offered("if x:\n    a()\n    if y:\n        b()\n    if z:\n        c()\n", "def f(settings, rows, x, y, z):")


def test_wide_interfaces_are_not_offered():
    many = "if settings.title:\n    if a and b and c and d and e and g:\n        rows.title(a, b, c, d, e, g)\n    else:\n        rows.none()\n"
    assert "_handle_title" not in offered(many, "def work(settings, rows, a, b, c, d, e, g):")


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("Map the chunks back to the original text", "map chunks back"),
        ("Make sure the loop variable is set", "ensure loop variable"),
        ("Handle BEGIN block start", "handle begin block start"),
        ("Check for tabs", "check tabs"),
        ("old options", "old options"),
        ("TODO: check this", ""),
        ("we cannot know which of them was first, so we guess", ""),
        ("parse", ""),
    ],
)
def test_a_comment_is_a_name_only_where_it_reads_as_one(comment, words):
    assert comment_words(comment) == words.split()


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("isinstance(value, Mapping)", "mapping"),
        ("isinstance(value, (list, tuple))", "list or tuple"),
        ("kind == 'header'", "header"),
        ("table is None", "without table"),
        ("not self.stack", "without stack"),
        ("hasattr(value, 'keys')", "keys"),
        ("options.get('fields')", "fields"),
        ("strict and INDETERMINATE_EFFECT.match(text)", "strict"),
        ("x.isidentifier()", "identifier"),
        ("kind != 'header'", ""),
    ],
)
def test_a_condition_says_which_case_it_asks_for(condition, words):
    import ast

    assert case_words(ast.parse(condition, mode="eval").body) == words.split()


def test_words_of_identifiers():
    assert split("parseHTMLText_of") == ["parse", "html", "text", "of"]
    assert singular(["open", "entries"]) == ["open", "entry"] and singular(["class"]) == ["class"]
    assert not strong(["ret"]) and not strong(["header", "0"]) and strong(["header"])
    import ast

    assert noun(ast.parse("len(rows)", mode="eval").body) == ["rows"]
