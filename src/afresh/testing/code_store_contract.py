"""What every CodeStore must do. Subclass it and give it a `store`, fresh and empty."""

import pytest

from afresh.domain.code import Content, Import, Kind, Listing, Reading, Symbol, Taken, Term
from afresh.ports import CodeStore

READING = Reading(
    "python",
    3,
    symbols=(
        Symbol("Cart", Kind.CLASS, 1, 3, "class Cart(Base)", "Holds.", ("Base",)),
        Symbol("Cart.é", Kind.METHOD, 2, 3, "def é()"),
    ),
    imports=(Import("..money", 1, (("rate", "r"),)), Import("os", 2, (), "o")),
    mentions=("Base", "Cart", "é"),
    doc="A file.",
    entry="here",
)


def key(number: int) -> str:
    return f"{number:032x}"


def taken(*mentions: str, **words: int) -> Taken:
    return Taken(Reading("python", 1, mentions=mentions), words)


class CodeStoreContract:
    def test_what_was_added_is_read_back_whole(self, store: CodeStore) -> None:
        (content,) = store.add({key(1): lambda: Taken(READING, {"cart": 2, "hold": 1})}).values()
        assert content.length == 3
        assert store.readings([content.number]) == {content.number: READING}

    def test_a_bare_reading_is_without_what_is_large(self, store: CodeStore) -> None:
        number = store.add({key(1): lambda: Taken(READING, {})})[key(1)].number
        bare = store.readings([number], bare=True)[number]
        assert (bare.imports, bare.doc, bare.entry, bare.symbols, bare.mentions) == (READING.imports, "A file.", "here", (), ())

    def test_a_known_content_is_not_taken_again(self, store: CodeStore) -> None:
        first = store.add({key(1): lambda: taken("x")})
        assert store.add({key(1): lambda: pytest.fail("it is known"), key(2): lambda: taken("y")})[key(1)] == first[key(1)]

    @pytest.mark.parametrize("many", [1, 200])
    def test_terms_lead_to_contents_with_how_often(self, store: CodeStore, many: int) -> None:
        kept = store.add({key(n): lambda n=n: taken("all", f"name{n}", said=n + 1, **{f"word{n}": 2}) for n in range(many)})
        numbers = [kept[key(n)].number for n in range(many)]
        assert store.saying(Term.WORD, "said") == {number: n + 1 for n, number in enumerate(numbers)}
        assert store.saying(Term.MENTION, "all") == dict.fromkeys(numbers, 1)
        assert store.saying(Term.WORD, "word0") == {numbers[0]: 2}
        assert store.saying(Term.MENTION, f"name{many - 1}") == {numbers[-1]: 1}

    def test_kinds_of_terms_are_apart(self, store: CodeStore) -> None:
        number = store.add({key(1): lambda: Taken(READING, {"cart": 2})})[key(1)].number
        assert store.saying(Term.SYMBOL, "é") == store.saying(Term.SYMBOL, "Cart") == {number: 1}
        assert not store.saying(Term.WORD, "Cart")
        assert not store.saying(Term.MENTION, "cart")
        assert not store.saying(Term.MENTION, "zzz")
        assert not store.saying(Term.WORD, "")

    def test_a_listing_is_given_back_as_it_was_kept(self, store: CodeStore) -> None:
        content = store.add({key(1): lambda: taken("x")})[key(1)]
        listing = Listing("a\udce9.py\x00mark\x00b.md\x00mark", [key(1)], [content])
        assert store.listing("tree") is None
        store.keep("tree", listing)
        store.keep("other", Listing("", [], []))
        assert store.listing("tree") == listing
        store.keep("tree", Listing("", [], []))
        assert store.listing("tree") == Listing("", [], [])

    def test_a_content_that_is_not_there_is_told(self, store: CodeStore) -> None:
        with pytest.raises(KeyError):
            store.readings([Content(99, 0).number])
