"""New functions are named with words from the code; if there are none, nothing is suggested."""

import ast
import re
from textwrap import dedent, indent

import pytest

from afresh.code.python_source import parse_python
from afresh.code.refactoring.extract_function import suggest_extractions
from afresh.code.refactoring.identifier_words import (
    find_case_words,
    find_comment_words,
    find_noun,
    is_specific_name,
    make_singular,
    split_identifier,
)

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
    """Return the names suggested for a function that is over the limit because of `body`."""
    text = head + indent("\n" + dedent(body).strip("\n") + dedent(REST) + "return rows\n", "    ")
    source = parse_python("m.py", text)
    assert source is not None, text
    found = suggest_extractions(source, source.functions[0], frozenset())
    return [match[1] for one in found if (match := re.search(r"into (\w+)\(", one.head))]


NAMED = {
    "_drop_rows": """
        # Drop rows that are too old
        for row in rows:
            if row.age > 3:
                if row.kept:
                    forget(row)
        """,
    "_set_title": """
        if settings.title:
            for row in rows:
                if row.plain:
                    row.title = settings.title
        """,
    "_check_rows": """
        for row in rows:
            if row.size < 0:
                if row.strict:
                    raise ValueError(row)
        """,
    "_collect_widths": """
        widths = []
        for row in rows:
            if row:
                if row.wide:
                    widths.append(len(row))
        use(widths)
        """,
    "_choose_encoding": """
        if settings.encoding:
            encoding = settings.encoding
        elif rows:
            encoding = rows[0]
        else:
            encoding = None
        use(encoding)
        """,
}


@pytest.mark.parametrize(("name", "body"), NAMED.items(), ids=NAMED)
def test_a_name_is_made_of_the_codes_own_words(name, body):
    assert name in offered(body), offered(body)


def test_without_a_word_for_it_nothing_is_offered():
    body = """
        if x:
            a()
            if y:
                b()
            if z:
                c()
        """
    assert not offered(body, "def f(settings, rows, x, y, z):")


def test_a_wide_interface_is_not_offered():
    body = """
        if settings.title:
            if {}:
                rows.title()
            else:
                rows.none()
        """
    assert "_handle_title" in offered(body.format("a and b"), "def work(settings, rows, a, b):")
    assert "_handle_title" not in offered(body.format("a and b and c and d and e"), "def work(settings, rows, a, b, c, d, e):")


def test_what_looks_at_the_call_stack_stays_where_it_is():
    body = """
        # Tell of old settings
        if settings.old:
            if settings.strict:
                warn("old", {})
            else:
                rows.clear()
        """
    assert offered(body.format("Warning"))
    assert not offered(body.format("Warning, stacklevel=2"))


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
    assert find_comment_words(comment) == words.split()


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
    assert find_case_words(ast.parse(condition, mode="eval").body) == words.split()


def test_words_of_identifiers():
    assert split_identifier("parseHTMLText_of") == ["parse", "html", "text", "of"]
    assert make_singular(["open", "entries"]) == ["open", "entry"] and make_singular(["class"]) == ["class"]
    assert not is_specific_name(["ret"]) and not is_specific_name(["header", "0"]) and is_specific_name(["header"])
    assert find_noun(ast.parse("len(rows)", mode="eval").body) == ["rows"]
