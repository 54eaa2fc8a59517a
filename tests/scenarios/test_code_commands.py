"""A person looks for symbols and their callers, in a repository that afresh has never worked in."""

import pytest
from person import Person

SHOP = """
class Cart:
    '''Holds items.'''

    def add_item(self, item):
        return item


def checkout(cart: Cart):
    cart.add_item(1)
    return sorted([], key=total)


def total(x):
    return x
"""


@pytest.fixture
def shop(person: Person) -> Person:
    person.write("shop.py", SHOP)
    person.write("tests/test_shop.py", "from shop import Cart, total\n\n\ndef test_it():\n    Cart().add_item(2)\n    total(1)\n")
    person.write("pyproject.toml", '[project.scripts]\nshop = "shop:checkout"\n')
    person.commit()
    return person


def listed(person: Person) -> set[str]:
    return {str(path.relative_to(person.repo)) for path in person.repo.rglob("*") if ".git" not in path.parts}


def test_a_symbol_is_found_with_its_place_signature_and_purpose(shop: Person):
    before = listed(shop)
    told = shop.types("code", "find", "Cart")
    assert told.code == 0
    assert told.out.splitlines() == ["shop.py:2  class", "  class Cart", "  Holds items."]
    assert listed(shop) == before


def test_nothing_alike_says_where_it_looked(shop: Person):
    told = shop.types("code", "find", "zzzzzzz")
    assert told.code == 1 and "searched" in told.words


def test_where_runs_begin(shop: Person):
    assert "shop.py:9" in shop.types("code", "map", "--entry").out
    assert shop.types("code", "map", "--entry", "--json").json == [
        {"path": "shop.py", "line": 9, "name": "shop", "why": "shop:checkout, [project.scripts] in pyproject.toml"}
    ]


def test_callers_are_told_by_file_and_tests_apart(shop: Person):
    told = shop.types("code", "callers", "Cart.add_item")
    assert told.code == 0
    lines = [line.strip() for line in told.out.splitlines()]
    assert "2 uses in 2 files, 1 of them in tests" in lines
    assert lines[lines.index("shop.py") :][:3] == ["shop.py", "checkout", "10  cart.add_item(1)"]
    assert lines.index("Tests") < lines.index("tests/test_shop.py") < lines.index("test_it")


def test_what_is_handed_on_is_marked_and_imports_are_counted(shop: Person):
    told = shop.types("code", "callers", "total")
    assert "return sorted([], key=total)  passed on" in told.out
    assert "Imported in 1 file" in told.out
    assert "from shop import Cart, total  imports" in shop.types("code", "callers", "total", "--all").out


def test_callers_as_json(shop: Person):
    told = shop.types("code", "callers", "shop.py:total", "--json").json
    assert [(call["path"], call["line"], call["kind"], call["sure"], call["test"]) for call in told["callers"]] == [
        ("shop.py", 11, "passed", True, False),
        ("tests/test_shop.py", 1, "import", True, True),
        ("tests/test_shop.py", 6, "call", True, True),
    ]


def test_several_of_a_name_are_offered(shop: Person):
    shop.write("other.py", "def total(): ...\n")
    told = shop.types("code", "callers", "total")
    assert told.code == 1
    assert "afresh code find --callers other.py:total" in told.out and "afresh code find --callers shop.py:total" in told.out
    assert shop.types("code", "callers", "other.py:total").words.endswith("No uses in this repository.")
    choices = shop.types("code", "callers", "total", "--json").json["choose"]["places"]
    assert [place["path"] for place in choices] == ["other.py", "shop.py"]


def test_a_damaged_index_is_made_again(shop: Person):
    assert shop.types("code", "find", "Cart").code == 0
    (database,) = (shop.folder / "data" / "afresh" / "code").rglob("code.db")
    database.write_bytes(b"no database at all" * 100)
    assert "shop.py:2" in shop.types("code", "find", "Cart").out
