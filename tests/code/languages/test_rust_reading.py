import pytest
from tongues import bases_of, doc_of, imports, outline, reading

from afresh.code.languages.rust import expand_use_tree, has_test_module, read_source


def test_symbols_are_told_as_a_reader_would():
    assert outline("cart.rs") == [
        "8-11 class Cart: pub struct Cart<T: Copy> where T: Clone",
        "11-11 constant Cart.items: pub items: T",
        "12-12 class Pair: struct Pair(u8, String)",
        "13-13 class Colour: enum Colour",
        "13-13 constant Colour.Red: Red",
        "13-13 constant Colour.Rgb: Rgb(u8)",
        "13-13 constant Colour.Named: Named",
        "13-13 constant Colour.Named.name: name: u8",
        "14-14 interface Totals: pub trait Totals: Sums + fmt::Display",
        "14-14 constant Totals.N: const N: u8",
        "14-14 method Totals.sum: fn sum(&self) -> u8",
        "17-17 method Cart.new: pub async fn new(items: T) -> Self",
        "17-17 function Cart.new.inner: fn inner()",
        "19-19 method Cart.sum: fn sum(&self) -> u8",
        "20-20 method Away.fmt: fn fmt(&self)",
        '21-21 constant LIMIT: const LIMIT: &str = "x"',
        "22-22 function say: macro_rules! say",
        "23-23 function main: fn main()",
        "24-25 class tests: mod tests",
        "25-25 function tests.adds: fn adds()",
    ]


def test_imports_of_every_form():
    assert imports("cart.rs") == [
        "2 std::collections HashMap=HashMap hash_map=hash_map",
        "2 std::collections::hash_map Entry=E",
        "3 crate::money *=*",
        "4 super stock=goods",
        "5 outer as inner",
        "6 self::door",
        "25 self *=*",
    ]


def test_docs_may_stand_above_attributes():
    assert doc_of("cart.rs", "Cart") == "Holds items."
    assert doc_of("cart.rs", "Cart.new") == "A new one."
    assert doc_of("cart.rs", "Cart.new.inner") == ""


def test_a_doc_of_many_lines_begins_with_its_first():
    (one,) = read_source("door.rs", "// no doc\n/// A door that\n/// opens. And\n/// shuts.\nstruct Door;\n").symbols
    assert one.doc == "A door that opens."


def test_traits_that_a_type_has_in_this_file_are_its_bases():
    assert bases_of("cart.rs", "Cart") == ("Totals",)
    assert bases_of("cart.rs", "Totals") == ("Sums", "fmt::Display")


def test_the_tests_of_a_file_are_seen():
    assert has_test_module(reading("cart.rs"))
    assert not has_test_module(read_source("door.rs", "pub mod testing { }\nfn tests() {}\n"))


def test_main_is_an_entry():
    assert reading("cart.rs").entry == "fn main"
    assert read_source("door.rs", "impl A { fn main() {} }\n").entry == ""


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        ("a", [("a", ())]),
        ("a::b::{c, d as e}", [("a::b", (("c", "c"), ("d", "e")))]),
        ("{a, b::c}", [("a", ()), ("b", (("c", "c"),))]),
        ("a::{self, b::{self as c, *}}", [("a", ()), ("a", (("b", "c"),)), ("a::b", (("*", "*"),))]),
        ("r#type::{/* x */ b, // y\n c}", [("type", (("b", "b"), ("c", "c")))]),
        ("a::{", []),
        ("", []),
    ],
)
def test_trees_of_uses_are_taken_apart(tree: str, expected: list[tuple[str, tuple[tuple[str, str], ...]]]):
    assert [(one.module, one.names) for one in expand_use_tree(tree, 1)] == expected
