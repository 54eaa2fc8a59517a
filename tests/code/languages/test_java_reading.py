from tongues import bases_of, doc_of, imports, outline, reading

from afresh.code.languages.java import read_source


def test_symbols_are_told_as_a_reader_would():
    assert outline("Cart.java") == [
        "12-27 class Cart: public final class Cart<T extends Item> extends Base<T> implements Totals, Shown<T>",
        "15-15 constant Cart.LOW: private static final int LOW = 1, HIGH = 2",
        "15-15 constant Cart.HIGH: private static final int LOW = 1, HIGH = 2",
        "16-16 method Cart.Cart: public Cart(int size) throws Full",
        "17-20 method Cart.total: public <K> Map<K, T> total(final K key, String... rest) throws IOException",
        "19-19 method Cart.total.go: public void go()",
        "21-21 class Cart.Inner: static class Inner",
        "21-21 method Cart.Inner.act: void act()",
        "22-22 class Cart.Colour: enum Colour implements Shown",
        "22-22 constant Cart.Colour.RED: RED(1)",
        "22-22 constant Cart.Colour.GREEN: GREEN",
        "23-23 interface Cart.Door: interface Door extends Wood, Metal",
        "23-23 constant Cart.Door.WIDTH: int WIDTH = 1",
        "23-23 method Cart.Door.open: void open()",
        "24-24 interface Cart.Stored: @interface Stored",
        '24-24 method Cart.Stored.value: String value() default ""',
        "25-25 class Cart.Point: record Point(int x, int y) implements Shown",
        "26-26 method Cart.main: public static void main(String[] args)",
    ]


def test_imports_of_every_form():
    assert imports("Cart.java") == [
        "3 java.util List=List",
        "4 org.shop.Money round=round",
        "5 org.shop.Money *=*",
        "6 org.shop.stock *=*",
    ]


def test_docs_are_read_without_their_tags():
    assert doc_of("Cart.java", "Cart") == "Holds items."


def test_bases_are_told_without_the_arguments_of_types():
    assert bases_of("Cart.java", "Cart") == ("Base", "Totals", "Shown")
    assert bases_of("Cart.java", "Cart.Door") == ("Wood", "Metal")


def test_package_and_entry():
    assert reading("Cart.java").packages == ("org.shop.cart",)
    assert reading("Cart.java").entry == "static void main"
    assert read_source("A.java", "class A { void main(String[] a) {} }").entry == ""
