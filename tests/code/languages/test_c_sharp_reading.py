from tongues import bases_of, doc_of, imports, outline, reading

from afresh.code.languages.c_sharp import read_source


def test_symbols_are_told_as_a_reader_would():
    assert outline("Cart.cs") == [
        "14-35 class Cart: public sealed partial class Cart<T> : Base<T>, ITotals, IShown where T : class",
        "21-21 constant Cart.Low: private const int Low = 1, High = 2",
        "21-21 constant Cart.High: private const int Low = 1, High = 2",
        "22-22 constant Cart.Sold: public event EventHandler Sold",
        "23-23 constant Cart.Count: public int Count { get; set; }",
        "24-24 constant Cart.Size: public int Size",
        "25-25 method Cart.this[]: public string this[int i]",
        "26-26 method Cart.Cart: public Cart(int a) : base(a)",
        "28-28 method Cart.Total: public async Task<int> Total<K>(K key, params string[] rest) where K : new()",
        "28-28 function Cart.Total.Local: int Local(int q)",
        "29-29 method Cart.Sum: void ITotals.Sum()",
        "30-30 class Cart.Colour: enum Colour : byte",
        "30-30 constant Cart.Colour.Red: Red = 1",
        "30-30 constant Cart.Colour.Green: Green",
        "31-31 constant Cart.Changed: delegate void Changed(int x)",
        "32-32 interface Cart.IDoor: interface IDoor : IWood",
        "32-32 method Cart.IDoor.Open: void Open()",
        "33-33 class Cart.Point: record Point(int X, string Y) : Base(X)",
        "34-34 method Cart.Main: static void Main(string[] args)",
        "37-37 class Extras: static class Extras",
        "37-37 method Extras.Twice: public static int Twice(this int x)",
    ]


def test_imports_of_every_form():
    assert imports("Cart.cs") == [
        "4 System",
        "5 System Math=*",
        "6 Shop.Stock Items=Goods",
        "7 Shop.Money",
    ]


def test_docs_are_the_summary():
    assert doc_of("Cart.cs", "Cart") == "Holds Item things."


def test_bases_are_told_whatever_is_defined():
    assert bases_of("Cart.cs", "Cart") == ("Base", "ITotals", "IShown")
    assert bases_of("Cart.cs", "Cart.Point") == ("Base",)
    assert bases_of("Cart.cs", "Cart.Colour") == ()


def test_namespaces_are_packages_also_for_the_whole_file():
    assert reading("Cart.cs").packages == ("Shop.Carts", "Shop.More")
    assert read_source("A.cs", "namespace A.B;\nclass C {}\n").packages == ("A.B",)


def test_a_namespace_is_found_where_conditions_break_the_grammar():
    text = "namespace A.B\n{\n    class C {}\n#if X\n    class D {\n#else\n    class D : C {\n#endif\n    }\n}\n"
    assert read_source("A.cs", text).packages == ("A.B",)


def test_entries():
    assert reading("Cart.cs").entry == "static void Main"
    assert read_source("A.cs", 'using A;\nConsole.WriteLine("x");\n').entry == "top-level statements"
    assert read_source("A.cs", "class A { void Main() {} }").entry == ""


def test_what_is_interpolated_is_code():
    assert "args" in reading("Cart.cs").mentions
    assert "b" in read_source("A.cs", 'class A { string B() => $"text {b}"; }').mentions
    assert "text" not in read_source("A.cs", 'class A { string B() => $"text {b}"; }').mentions
