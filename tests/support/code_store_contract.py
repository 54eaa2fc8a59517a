"""What every CodeStore must do. Subclass it and give it a `store`, fresh and empty."""

import pytest

from afresh.core.symbol import (
    ContentToIndex,
    FileReading,
    ImportedModule,
    IndexedContent,
    IndexTerm,
    Symbol,
    SymbolKind,
    TreeListing,
)
from afresh.ports.code import CodeIndexStore

SAMPLE_READING = FileReading(
    "python",
    3,
    symbols=(
        Symbol("Cart", SymbolKind.CLASS, 1, 3, "class Cart(Base)", "Holds.", ("Base",)),
        Symbol("Cart.é", SymbolKind.METHOD, 2, 3, "def é()"),
        Symbol("Cart.on change", SymbolKind.METHOD, 3, 3, '"on change"()'),
    ),
    imports=(ImportedModule("..money", 1, (("rate", "r"),)), ImportedModule("os", 2, (), "o")),
    mentions=("Base", "Cart", "a b", "é"),
    entry="here",
)


def make_content_key(number: int) -> str:
    return f"{number:032x}"


def make_taken(*mentions: str, **words: int) -> ContentToIndex:
    return ContentToIndex(FileReading("python", 1, mentions=mentions), words)


class CodeStoreContract:
    def test_what_was_added_is_read_back_whole(self, store: CodeIndexStore) -> None:
        (content,) = store.add({make_content_key(1): lambda: ContentToIndex(SAMPLE_READING, {"cart": 2, "hold": 1})}).values()
        assert content.length == 3
        assert store.readings([content.number]) == {content.number: SAMPLE_READING}

    def test_a_bare_reading_is_without_what_is_large(self, store: CodeIndexStore) -> None:
        number = store.add({make_content_key(1): lambda: ContentToIndex(SAMPLE_READING, {})})[make_content_key(1)].number
        bare = store.readings([number], bare=True)[number]
        assert (bare.imports, bare.entry, bare.symbols, bare.mentions) == (SAMPLE_READING.imports, "here", (), ())

    def test_a_known_content_is_not_taken_again(self, store: CodeIndexStore) -> None:
        first = store.add({make_content_key(1): lambda: make_taken("x")})
        assert (
            store.add({make_content_key(1): lambda: pytest.fail("it is known"), make_content_key(2): lambda: make_taken("y")})[
                make_content_key(1)
            ]
            == first[make_content_key(1)]
        )

    @pytest.mark.parametrize("many", [1, 200])
    def test_terms_lead_to_contents_with_how_often(self, store: CodeIndexStore, many: int) -> None:
        kept = store.add(
            {make_content_key(n): lambda n=n: make_taken("all", f"name{n}", said=n + 1, **{f"word{n}": 2}) for n in range(many)}
        )
        numbers = [kept[make_content_key(n)].number for n in range(many)]
        assert store.saying(IndexTerm.WORD, "said") == {number: n + 1 for n, number in enumerate(numbers)}
        assert store.saying(IndexTerm.MENTION, "all") == dict.fromkeys(numbers, 1)
        assert store.saying(IndexTerm.WORD, "word0") == {numbers[0]: 2}
        assert store.saying(IndexTerm.MENTION, f"name{many - 1}") == {numbers[-1]: 1}

    def test_kinds_of_terms_are_apart(self, store: CodeIndexStore) -> None:
        number = store.add({make_content_key(1): lambda: ContentToIndex(SAMPLE_READING, {"cart": 2})})[make_content_key(1)].number
        assert all(store.saying(IndexTerm.SYMBOL, name) == {number: 1} for name in ("é", "Cart", "on change"))
        assert store.saying(IndexTerm.MENTION, "a b") == {number: 1}
        assert not store.saying(IndexTerm.MENTION, "a")
        assert not store.saying(IndexTerm.WORD, "Cart")
        assert not store.saying(IndexTerm.MENTION, "cart")
        assert not store.saying(IndexTerm.MENTION, "zzz")
        assert not store.saying(IndexTerm.WORD, "")

    def test_a_listing_is_given_back_as_it_was_kept(self, store: CodeIndexStore) -> None:
        content = store.add({make_content_key(1): lambda: make_taken("x")})[make_content_key(1)]
        listing = TreeListing("a\xe9.py\x00mark\x00b.md\x00mark", [make_content_key(1)], [content])
        assert store.listing("tree") is None
        store.keep("tree", listing)
        store.keep("other", TreeListing("", [], []))
        assert store.listing("tree") == listing
        store.keep("tree", TreeListing("", [], []))
        assert store.listing("tree") == TreeListing("", [], [])

    def test_a_content_that_is_not_there_is_told(self, store: CodeIndexStore) -> None:
        with pytest.raises(KeyError):
            store.readings([IndexedContent(99, 0).number])
