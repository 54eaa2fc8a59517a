"""What the index of code offers unasked: few names that are sure, and the lines that matter."""

from textwrap import dedent

import pytest
from item_samples import text_of
from trees import Texts, state

from afresh.code.code_insight import CodeInsight
from afresh.code.context_items.match_text import FilesAtHand, find_named_definitions
from afresh.code.context_items.target_definitions import find_targets
from afresh.code.index.code_index import build_code_index
from afresh.code.names_in_text import remove_code_blocks
from afresh.core.context_item import Excerpt

SOURCE = dedent('''
    LIMIT = 40
    other = None


    def parse(text):
        """Return the parts of a text.

        They are split at commas, and what is empty
        is left out; a long text is cut, since nobody
        would read it to its end.
        """
        return [part for part in text.split(",") if part][:LIMIT]


    def now():
        return 1


    class Book:
        def parse(self):
            return parse(self.text)

        def replace_entry(self, key):
            return key
''').lstrip()
USERS = {
    f"app/user_{n}.py": "from app.book import parse\n\n\ndef use():\n    return parse('other now secret')\n" for n in range(9)
}
TREE = {
    "app/book.py": SOURCE,
    **USERS,
    "CHANGES.rst": "Version 2\n---------\n\n- new\n\nVersion 1\n---------\n\n- old\n",
    "docs/use.md": "# Use\n\ntext\n\n## Parts\n",
}
CODE = build_code_index(Texts(dict(TREE)))


def named(text: str) -> list[str]:
    return [place.symbol.name for place in find_named_definitions(CODE, text, FilesAtHand(frozenset(["app/book.py"])))]


@pytest.mark.parametrize(
    "text", ["the other one fails now", 'a key like "other" or "now"', "we parse it twice", "option(s) of now"]
)
def test_ordinary_words_are_no_symbols(text: str):
    assert named(text) == []


@pytest.mark.parametrize("text", ["`now` is late", "call now() twice"])
def test_what_is_written_like_code_is_a_symbol(text: str):
    assert named(text) == ["now"]


@pytest.mark.parametrize("text", ["soon and use_all differ; call use_all() twice", "soon, use_all() and so on"])
def test_a_plain_word_that_is_joined_with_a_name_is_one_too(text: str):
    code = build_code_index(Texts({**TREE, "app/all.py": "def use_all():\n    pass\n\n\ndef soon():\n    pass\n"}))
    assert sorted(place.symbol.name for place in find_named_definitions(code, text, FilesAtHand())) == ["soon", "use_all"]


def test_qualified_names_come_before_bare_ones():
    assert named("now() is late, and so is Book.parse")[0] == "Book.parse"


def test_what_only_an_example_calls_is_not_what_the_task_is_about():
    goal = "Replacing an entry fails\n\n    book = app.book.parse('a,b')\n    print(book)\n\nIt should not."
    assert "parse" not in remove_code_blocks(goal)
    found = {one.symbol.name: one.basis for one in find_targets(CODE, state(goal, "fix_bug"))}
    assert found.get("parse", "example") == "example"


def target(goal: str) -> Excerpt:
    [found] = [
        look for look in CodeInsight().looks(state(goal, "fix_bug"), Texts(dict(TREE)), {"target"}) if look.kind == "target"
    ]
    assert isinstance(found, Excerpt)
    return found


def test_a_long_docstring_is_folded_and_the_constants_that_a_function_reads_are_shown():
    text = text_of(target("`app.book.parse` keeps too little"))
    assert "    1 LIMIT = 40" in text and "[:LIMIT]" in text and '"""Return the parts of a text.' in text
    assert "split at commas" not in text and "     … 7-11" in text


def test_a_class_of_three_pages_that_the_task_names_is_shown_with_its_body():
    long = "class Shelf:\n" + "".join(f"    def take_{n}(self):\n        return {n}\n\n" for n in range(25))
    files, goal = Texts(TREE | {"app/shelf.py": long}), state("`Shelf`: a seventh copy can't be taken", "fix_bug")
    [shelf] = [
        look for look in CodeInsight().looks(goal, files, {"target"}) if isinstance(look, Excerpt) and look.kind == "target"
    ]
    assert "return 24" in shelf.code


def test_where_an_option_is_the_code_is_shown_and_other_places_are_listed():
    options = "parser = argparse.ArgumentParser()\nparser.add_argument(\n    '--keep-order', default=False)\n"
    sort = "def sort(rows, keep_order=False):\n" + "    rows = list(rows)\n" * 20 + "    if keep_order:\n        return rows\n"
    test = "from app.sort import sort\n\n\ndef test_it():\n    assert sort([2], keep_order=True) == [2]\n"
    files = Texts({
        "app/options.py": f"import argparse\n\n{options}",
        "app/sort.py": sort,
        "tests/test_sort.py": test,
        "docs/use.md": "keep_order leaves rows as they are\n",
    })  # fmt: skip
    looks = CodeInsight().looks(
        state("Add --reverse, in the manner of --keep-order", "implement_feature"), files, {"target", "callers"}
    )
    shown = [(look.path, look.first, look.last) for look in looks if isinstance(look, Excerpt) and look.basis == "named"]
    assert shown == [("app/options.py", 3, 5), ("app/sort.py", 1, 2), ("app/sort.py", 21, 23)]
    [places] = [text_of(look) for look in looks if look.kind == "callers" and "keep-order" in look.subject]
    assert (
        places
        == "tests/test_sort.py:5 assert sort([2], keep_order=True) == [2]\ndocs/use.md:1 keep_order leaves rows as they are"
    )


def test_of_a_changelog_that_the_task_speaks_of_the_beginning_is_shown():
    looks = CodeInsight().looks(state("Mend now(), and say so in the changelog", "fix_bug"), Texts(dict(TREE)), {"target"})
    [head] = [look for look in looks if isinstance(look, Excerpt) and look.path == "CHANGES.rst"]
    assert head.code.startswith("Version 2\n---------\n\n- new\n")


def test_a_file_that_shares_only_words_with_the_task_is_listed_if_it_is_product_code_with_definitions():
    words = "# entries were lost when replaced\n"
    more = {"docs/conf.py": words, "app/words.py": words, "app/lost.py": f"{words}def first():\n    pass\n"}
    looks = CodeInsight().looks(state("Replaced entries were lost", "fix_bug"), Texts(TREE | more))
    [outline] = [text_of(look) for look in looks if look.kind == "outline"]
    assert "app/lost.py (3 lines)" in outline and "first()" not in outline, "only definitions with words of the task"
    assert "docs/conf.py (" not in outline and "app/words.py (" not in outline


def test_methods_of_a_class_that_the_task_names_are_found_by_its_words():
    big = SOURCE + "".join(f"\n    def method_{n}(self):\n        return {n}\n" for n in range(40))
    looks = CodeInsight().looks(
        state("`Book`: replacing an entry fails", "fix_bug"), Texts(TREE | {"app/book.py": big}), {"target"}
    )
    assert next(look.names[0] for look in looks if isinstance(look, Excerpt)) == "Book.replace_entry"


def test_the_source_tree_has_documents_that_the_task_names_with_their_headings():
    looks = CodeInsight().looks(state("Mend it, and say so in CHANGES.rst and docs/use.md", "fix_bug"), Texts(dict(TREE)))
    [outline] = [text_of(look) for look in looks if look.kind == "outline"]
    assert "CHANGES.rst (9 lines)\n" in outline and "docs/use.md (5 lines): 1 Use" in outline
