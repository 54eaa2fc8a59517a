"""The profile's text stays the same while the shape of the code does, which keeps the prompt prefix; and it is computed once."""

import random
import re

import pytest
from small_projects import SHOP, module, read

from afresh.code.index.update_index import MemoryCodeStore
from afresh.code.project_profile.profile import ProfileInputs, build_profile, load_or_measure_traits
from afresh.code.test_commands.try_commands import CommandTrial

ABOUT = ProfileInputs(("- Use pytest.",), "implement_feature", trial=CommandTrial("pytest", "x", True, True, 0, 40))
PROJECT = {
    **SHOP,
    **{f"src/shop/domain/part{n}.py": module(f"part{n}", "from shop.domain.item import item_1", 6) for n in range(8)},
}


def levels(texts: dict[str, str], store: MemoryCodeStore | None = None) -> tuple[str, ...]:
    made = build_profile(*read(texts, store=store), ABOUT, {})
    return made.render("user"), made.render("project"), made.render("type")


def change_a_body(text: str, dice: random.Random) -> str:
    return text.replace('label + "s"', f'label + "{dice.choice("xyz")}"', 1)


def add_a_line(text: str, dice: random.Random) -> str:
    lines = text.split("\n")
    inside = [number for number, line in enumerate(lines) if line.startswith("    return label")]
    if inside:
        lines.insert(dice.choice(inside), f"    label = label.strip()[{dice.randrange(3)}:]")
    return "\n".join(lines)


def rename_a_local(text: str, dice: random.Random) -> str:
    return re.sub(r"\blabel\b", dice.choice(["name", "word", "title"]), text)


def add_a_comment(text: str, dice: random.Random) -> str:
    return text + f"# {dice.random()}\n"


def add_a_function(text: str, dice: random.Random) -> str:
    return text + f'def more_{dice.randrange(1000)}(x: int) -> int:\n    """One more."""\n    return x + 1\n'


EDITS = (change_a_body, add_a_line, rename_a_local, add_a_comment, add_a_function)


def test_small_edits_leave_every_byte_as_it_was():
    dice, texts, same = random.Random(4), dict(PROJECT), 0
    sources = [path for path in texts if path.endswith(".py") and path.startswith("src/shop/d")]
    store = MemoryCodeStore()
    before = levels(texts, store)
    for number in range(200):
        if number % 10 == 9:
            texts[f"tests/domain/test_more{number}.py"] = f"def test_one_more_thing_that_must_hold_{number}():\n    assert True\n"
        else:
            path = dice.choice(sources)
            texts[path] = dice.choice(EDITS)(texts[path], dice)
        after = levels(texts, store)
        same += after == before
        before = after
    assert same >= 193, f"{200 - same} of 200 edits changed it; 20 of them add a file of tests to 5 that were there"


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("src/shop/web/views.py", module("views", "import flask\n\nfrom shop.app.sell import sell_1"), "flask"),
        ("src/shop/reports/monthly.py", module("monthly", "from shop.domain.price import price_1"), "reports"),
        ("ruff.toml", "line-length = 80\n", "lines up to 80"),
    ],
)
def test_a_new_framework_package_or_rule_changes_it(path: str, text: str, words: str):
    new = (
        {path: text, path.rpartition("/")[0] + "/more.py": text, path.rpartition("/")[0] + "/__init__.py": ""}
        if "/" in path
        else {path: text}
    )
    before, after = levels(SHOP)[1], levels({**SHOP, **new})[1]
    assert words in after and words not in before


def test_an_unchanged_tree_is_measured_once(monkeypatch: pytest.MonkeyPatch):
    from afresh.code.project_profile import profile as package

    kept: dict[str, str] = {}
    first = build_profile(*read(SHOP), ABOUT, kept)
    monkeypatch.setattr(package, "measure_project", lambda *_: pytest.fail("measured again"))
    assert build_profile(*read(SHOP), ABOUT, kept) == first


def test_what_is_kept_is_for_this_code_and_this_configuration():
    kept: dict[str, str] = {}
    load_or_measure_traits(*read(SHOP), kept)
    load_or_measure_traits(*read({**SHOP, "ruff.toml": "line-length = 80\n"}), kept)
    load_or_measure_traits(*read({**SHOP, "src/shop/domain/item.py": module("item", functions=5)}), kept)
    assert len(kept) == 3


def test_what_can_not_be_read_is_measured_again():
    kept: dict[str, str] = {}
    facts = load_or_measure_traits(*read(SHOP), kept)
    for wrong in ("", "{", '{"layout": 3}', '{"strange": 1}', "[]"):
        kept[next(iter(kept))] = wrong
        assert load_or_measure_traits(*read(SHOP), kept) == facts


def test_only_so_much_is_kept():
    kept: dict[str, str] = {}
    for number in range(12):
        load_or_measure_traits(*read({"a.py": f"x = {number}\n"}), kept)
    assert len(kept) == 8
