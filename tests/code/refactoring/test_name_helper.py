"""New functions are named with words from the code; if there are none, nothing is suggested."""

import ast
import re
from textwrap import dedent, indent

import pytest

from afresh.code.python_source import parse_python
from afresh.code.refactoring.extract_function import suggest_extractions
from afresh.code.refactoring.identifier_words import (
    find_comment_words,
    find_noun,
    find_tested_case,
    is_specific_name,
    make_singular,
    split_identifier,
)
from afresh.code.refactoring.project_facts import NO_PROJECT
from afresh.code.refactoring.suggest_refactorings import explain_missing_suggestion, suggest_refactorings

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
    found = suggest_extractions(source, source.functions[0], NO_PROJECT)
    return [match[1] for one in found if (match := re.search(r"into (\w+)\(", one.head))]


NAMED = {
    "_drop_rows": """
        # Drop rows that are too old
        for row in rows:
            if row.age > 3:
                if row.kept:
                    forget(row)
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


UNNAMED = {
    "a verb that is called and a variable that is seen": """
        if settings.title:
            for row in rows:
                if row.plain:
                    self.add_issue(row.title)
        """,
    "a result that is changed by the way": """
        width = 0
        for row in rows:
            if row.wide:
                if row.size > width:
                    settings.widest = row
                    width = row.size
        use(width)
        """,
    "a comment that says when": """
        # Drop rows only if they are old
        for row in rows:
            if row.age > 3:
                if row.kept:
                    forget(row)
        """,
    "a comment without an object": """
        # Look for imported names that aren't used
        for row in rows:
            if row.age > 3:
                if row.kept:
                    forget(row)
        """,
}


@pytest.mark.parametrize("body", UNNAMED.values(), ids=UNNAMED)
def test_a_name_that_says_too_little_is_not_offered(body):
    assert not offered(body, "def work(self, settings, rows, use, forget):")


def test_the_list_of_violations_says_for_which_lines_there_is_no_name():
    text = "def work(settings, rows, forget):" + indent("\n" + dedent(UNNAMED["a comment that says when"]).strip("\n"), "    ")
    source = parse_python("m.py", text + indent(dedent(REST), "    ") + "    return rows\n")
    assert source is not None
    assert explain_missing_suggestion(source, source.functions[0]) == "no good name for lines 2–6"


def test_the_cases_of_a_function_that_only_chooses_are_named_after_it():
    branches = "".join(
        f"    {'elif' if n else 'if'} isinstance(node, {kind}):\n        for part in node.parts:\n            if part:\n"
        f"                node.seen{n}()\n                node.note{n}(part)\n"
        for n, kind in enumerate(("Try", "While", "Lambda", "Import"))
    )
    source = parse_python("m.py", f"def visit(node):\n{branches}")
    assert source is not None
    [plan, *_] = suggest_refactorings(source, source.functions[0], NO_PROJECT)
    new = plan.applied(source.text)
    assert [f"def _visit_{kind}(node):" in new for kind in ("try", "while", "lambda", "import")] == [True] * 4
    assert plan.after <= 10


def test_what_looks_at_the_call_stack_stays_where_it_is():
    body = """
        # Report old settings
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
        ("Map the chunks to the original text", "map chunks to original text"),
        ("Make sure the loop variable is set", "ensure loop variable"),
        ("Handle BEGIN block start", ""),
        ("Copy back our messages", ""),
        ("Look for imported names", ""),
        ("Drop rows that are too old", "drop rows"),
        ("Drop rows unless they are new", ""),
        ("old options", ""),
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
        ("'header' in table", ""),
        ("text.startswith('header')", ""),
        ("kind is Kind.HEADER and wide", "header"),
        ("table is None", ""),
        ("not self.stack", ""),
        ("options.wide", ""),
        ("kind != 'header'", ""),
    ],
)
def test_a_condition_says_which_case_it_asks_for(condition, words):
    assert find_tested_case(ast.parse(condition, mode="eval").body) == words.split()


def test_words_of_identifiers():
    assert split_identifier("parseHTMLText_of") == ["parse", "html", "text", "of"]
    assert make_singular(["open", "entries"]) == ["open", "entry"] and make_singular(["class"]) == ["class"]
    assert not is_specific_name(["ret"]) and not is_specific_name(["header", "0"]) and is_specific_name(["header"])
    assert find_noun(ast.parse("len(rows)", mode="eval").body) == ["rows"]
