from textwrap import dedent

import pytest

from afresh.app.code.violations import list_violations
from afresh.errors import BadInput

TANGLED = dedent("""
    def render(rows, options):
        lines = []
        # Collect the widths
        widths = []
        for row in rows:
            if row:
                if row.wide:
                    widths.append(len(row))
                elif row.narrow:
                    widths.append(1)
        if options.title:
            lines.append(options.title)
        if options.border:
            lines.append("-")
        for row in rows:
            if row.plain:
                lines.append(row.text)
            elif row.bold:
                lines.append(row.text.upper())
            else:
                while row.parts:
                    lines.append(row.parts.pop())
        return lines, widths
    """)
FLAT = "def many(a, b, c, d, e, f, g):\n    return a\n"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "render.py").write_text(TANGLED)
    (tmp_path / "flat.py").write_text(FLAT)
    return tmp_path


def test_each_function_comes_once_with_all_its_measures_and_what_makes_them(project):
    found = {one.function: one for one in list_violations(project, [], offers=False)}
    assert set(found) == {"render", "many"}
    assert [one.code for one in found["render"].measures] == ["C901"] and found["render"].complexity == 11
    assert found["render"].made_of == {"if": 7, "for": 2, "while": 1}
    assert {one.code for one in found["many"].measures} == {"PLR0913", "PLR0917"}


def test_an_offer_says_what_it_would_give_and_none_says_why(project):
    found = {one.function: one for one in list_violations(project, [])}
    offer = found["render"].offer
    assert offer is not None and offer.before == 11 and offer.after <= 10
    assert found["many"].offer is None and found["many"].why_not


def test_only_the_places_that_are_named(project):
    assert [one.function for one in list_violations(project, ["flat.py"], offers=False)] == ["many"]
    with pytest.raises(BadInput, match="no such file or folder: 'elsewhere'"):
        list(list_violations(project, ["elsewhere"]))


def test_looking_leaves_nothing_behind(project):
    before = sorted(project.rglob("*"))
    list(list_violations(project, []))
    assert sorted(project.rglob("*")) == before
