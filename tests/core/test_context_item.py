"""Items: what they show, and how they are archived."""

import pytest

from afresh.core.change import Change
from afresh.core.context_item import (
    Diff,
    Excerpt,
    LineGap,
    MapEntry,
    Note,
    RepoMap,
    SourceLine,
    StepLine,
    diff_from_change,
)
from afresh.core.item_record import item_from_ref, redact_item, ref_from_item, to_archived_text

SOURCE = (SourceLine(3, "def f():"), SourceLine(4, "    return 1", changed=True))
EXCERPT = Excerpt("target", "my dir/a.py", 3, 9, ("f", "named in the task"), SOURCE, (LineGap(5, 9, ("inner(x, y)",)),))
ITEMS = (
    EXCERPT,
    Excerpt("file", "a.py", 1, 1),
    Diff("change", "a.py", 2, 1, "@@ -1 +1,2 @@"),
    Diff("diff", "a.py", 2, 1, "@@", change="modified", commits="the last commit"),
    RepoMap((MapEntry("a.py", 9, "read", ("3 f()", "7 g()")), MapEntry(symbols=("src: b.py",)))),
    Note("output", "0a1b2c3d4e5f", "42 passed"),
)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: type(item).__name__)
def test_an_item_is_archived_and_comes_back_as_it_was(item):
    assert item_from_ref(ref_from_item(item, "b1"), to_archived_text(item)) == item


def test_an_excerpt_is_keyed_by_the_lines_that_it_shows_and_says_how_to_see_the_rest():
    assert EXCERPT.key == ("my dir/a.py", frozenset({3, 4})) and EXCERPT.source == "`read` my dir/a.py"
    assert EXCERPT.changed and list(map(str, EXCERPT.body)) == ["    3 def f():", "+   4     return 1", "     … 5-9 inner(x, y)"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (Change("a.py", "modified", 2, 1, "diff --git …\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"), "a.py (+2 −1)"),
        (Change("x.bin", "modified"), "x.bin (binary)"),
        (Change("empty.txt", "added", patch="diff --git …\nnew file mode 100644\n"), "empty.txt (empty)"),
        (Change("run.sh", "modified", patch="diff --git …\nold mode 100644\nnew mode 100755\n"), "run.sh (mode)"),
    ],
    ids=["text", "binary", "empty", "mode"],
)
def test_a_change_without_lines_says_what_it_is(change, told):
    assert diff_from_change(change).subject == told


def test_a_step_line_leaves_off_the_ids_that_are_shown_elsewhere():
    line = StepLine(3, "run pytest", ("0a1b2c3d", "4e5f6a7b"))
    assert str(line) == "- step 3: run pytest [0a1b2c3d 4e5f6a7b]"
    assert line.describe({"0a1b2c3d"}) == "run pytest [4e5f6a7b]" and line.describe(line.ids) == "run pytest"


def test_a_key_that_goes_over_many_lines_of_an_excerpt_is_redacted_and_the_lines_stay_where_they_are():
    key = ["before", "-----BEGIN RSA PRIVATE KEY-----", *["MIIEowIBAAKCAQEA" * 4] * 3, "-----END RSA PRIVATE KEY-----", "after"]
    held = Excerpt("file", "a.py", 8, 14, (), tuple(SourceLine(number, line) for number, line in enumerate(key, 8)))
    shown = redact_item(held)
    assert (
        isinstance(shown, Excerpt) and "MIIEow" not in shown.code and [line.number for line in shown.lines] == list(range(8, 15))
    )
    assert (shown.lines[0].text, shown.lines[-1].text) == ("before", "after")
    assert redact_item(EXCERPT) == EXCERPT
