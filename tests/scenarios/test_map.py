"""A map of the code for a person, from the command line."""

from person import Person

from afresh.cli.render.code import build_code_map as build_page
from afresh.core.tokens import EstimatingCounter


def stocked(person: Person) -> Person:
    person.write("shop/mail.py", "def send_receipt(address):\n    ...\n\n\nclass Letter:\n    def post(self): ...\n")
    person.write("shop/cart.py", "from shop.mail import send_receipt\n")
    person.commit("Letters go out")
    return person


def test_a_map_into_a_pipe_is_bare_and_within_its_cap(person: Person):
    told = stocked(person).types("code", "map", "`send_receipt` sends no letters", "--tokens", "120")
    assert told.code == 0 and EstimatingCounter()(told.out.rstrip("\n")) <= 120
    first, second = told.out.splitlines()[:2]
    assert first.startswith("shop/mail.py  (") and "defines `send_receipt`" in first and "changed for “Letters go out”" in first
    assert second == "     1  def send_receipt(address)"


def test_a_file_that_is_not_indexed_is_named_with_the_reason(person: Person):
    person.write("old.py", "x = 1\0\n")
    person.write("notes.md", "hello\n")
    person.commit("odd files")
    told = stocked(person).types("code", "map", "old.py notes.md")
    assert "old.py is not indexed: cannot be read: a binary file" in told.err and "mail.py" not in told.err
    assert "notes.md is not indexed: it is no source file in a supported language" in told.err
    assert len(person.types("code", "map", "old.py notes.md", "--json").json["unindexed"]) == 2


def test_on_a_terminal_it_says_what_there_was_room_for(person: Person):
    from contextlib import chdir
    from pathlib import Path

    from samples import rendered

    from afresh.app.code.explore_code import build_code_map

    with chdir(stocked(person).repo):
        text = rendered(build_page(build_code_map(Path.cwd(), "letters \x1b[31m", 500), is_plain=False), 80)
        nothing = rendered(build_page(build_code_map(Path.cwd(), "", 1), is_plain=False), 80)
    assert text.splitlines()[0] == "Most relevant for letters \\x1b[31m"
    assert "     5  class Letter" in text and "of 500 tokens" in text and max(map(len, text.splitlines())) <= 80
    assert "Nothing fits into 1 tokens" in nothing
