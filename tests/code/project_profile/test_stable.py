"""The profile's text stays the same while files are edited, which keeps the prompt prefix."""

import random
import re

import pytest
from small_projects import SHOP, module, read

from afresh.code.index.update_index import MemoryCodeStore
from afresh.code.project_profile.profile import ProfileInputs, build_profile

ABOUT = ProfileInputs(("- Use pytest.",), "implement_feature", tests="`pytest` (runs: 40 tests pass)")
PROJECT = {
    **SHOP,
    **{f"src/shop/domain/part{n}.py": module(f"part{n}", "from shop.domain.item import item_1", 6) for n in range(8)},
}


def levels(texts: dict[str, str], store: MemoryCodeStore | None = None) -> tuple[str, ...]:
    made = build_profile(*read(texts, store=store), ABOUT)
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
    dice, texts = random.Random(4), dict(PROJECT)
    sources = [path for path in texts if path.endswith(".py") and path.startswith("src/shop/d")]
    store = MemoryCodeStore()
    before = levels(texts, store)
    for number in range(200):
        if number % 10 == 9:
            texts[f"tests/domain/test_more{number}.py"] = f"def test_one_more_thing_that_must_hold_{number}():\n    assert True\n"
        else:
            path = dice.choice(sources)
            texts[path] = dice.choice(EDITS)(texts[path], dice)
        assert levels(texts, store) == before


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("ruff.toml", "line-length = 80\n", "lines up to 80"),
        ("package.json", '{"dependencies": {"react": "1"}}', "react"),
        ("examples/sell.py", "x = 1\n", "also docs, examples"),
    ],
)
def test_a_new_library_folder_or_rule_changes_it(path: str, text: str, words: str):
    before, after = levels(SHOP)[1], levels({**SHOP, path: text})[1]
    assert words in after and words not in before
