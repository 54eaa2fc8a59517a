from tongues import bases_of, doc_of, imports, outline, reading

from afresh.code.languages.go import read_source


def test_symbols_are_told_as_a_reader_would():
    assert outline("cart.go") == [
        "16-20 class Cart: type Cart[T any] struct",
        '19-19 constant Cart.A: A, B int `json:"a"`',
        '19-19 constant Cart.B: A, B int `json:"a"`',
        "23-23 interface Totals: type Totals interface",
        "23-23 method Totals.Sum: Sum(p []byte) (int, error)",
        "24-24 constant Id: type Id = string",
        "28-28 constant Open: const Open = iota",
        "30-30 constant Shut: const Shut",
        "33-33 constant first: var first, second = 1, 2",
        "33-33 constant second: var first, second = 1, 2",
        "38-41 method Cart.Total: func (c *Cart[T]) Total(tax int, rest ...string) (err error)",
        "43-43 function main: func main()",
    ]


def test_imports_of_every_form():
    assert imports("cart.go") == [
        "8 fmt",
        "9 example.org/shop/money as m",
        "10 example.org/shop/dot as .",
        "11 example.org/shop/side as _",
        "13 os",
    ]


def test_docs_stand_right_above_and_directives_are_none():
    assert doc_of("cart.go", "Cart") == "Cart holds items."
    assert doc_of("cart.go", "Cart.Total") == "Total is taxed."
    assert doc_of("cart.go", "Shut") == "Shut is shut."
    assert doc_of("cart.go", "Open") == ""


def test_what_is_embedded_is_a_base():
    assert bases_of("cart.go", "Cart") == ("Base", "m.Rate")
    assert bases_of("cart.go", "Totals") == ("fmt.Stringer",)


def test_main_is_an_entry_only_in_its_package():
    assert reading("cart.go").entry == "func main"
    assert reading("cart.go").packages == ("main",)
    assert read_source("lib.go", "package lib\n\nfunc main() {}\n").entry == ""
