from hypothesis import given
from hypothesis import strategies as st
from shop import PAST, shop

from afresh.code.index.code_index import build_code_index
from afresh.code.ranking.query import RankingQuery
from afresh.code.ranking.rank_files import render_map_files, select_map_files
from afresh.core.tokens import EstimatingCounter
from support.fakes import DictFiles

NAMES = st.sampled_from(
    ["total", "_rate", "parse_amount", "x", "Cart", "a_name_that_is_rather_long_for_what_it_says", "test_cart"]
)
FUNCTIONS = st.builds(lambda name, doc: f'def {name}(a, b=1):\n    """{doc}."""\n', NAMES, st.sampled_from(["Sorts", "Totals"]))
CLASSES = st.builds(lambda name, method: f"class {name}:\n    def {method}(self): ...\n", NAMES, NAMES)
TEXTS = st.lists(st.one_of(FUNCTIONS, CLASSES, st.just("def (:\n")), max_size=8).map("\n".join)
TREES = st.dictionaries(
    st.builds("{}/{}.py".format, NAMES, st.one_of(NAMES, st.text("aé\u202e漢", min_size=1))), TEXTS, max_size=8
)


def test_files_stand_in_order_with_reasons_and_below_them_lines_and_signatures():
    text = render_map_files(select_map_files(shop(), RankingQuery("`Cart.total` must round"), 90, EstimatingCounter()))
    assert text.splitlines()[:4] == [
        "shop/cart.py  (defines `Cart`, `total`; path has: cart)",
        "     6  class Cart(Base)",
        "     9    def total(self, tax: int = 1) -> int",
        "        … 1 more",
    ]


def test_a_method_is_never_shown_without_its_class():
    for cap in range(20, 400, 7):
        for shown in select_map_files(shop(), RankingQuery("total clear"), cap, EstimatingCounter()):
            names = [symbol.name for symbol in shown.symbols]
            assert all(name.rpartition(".")[0] in ("", *names) for name in names)


def test_a_larger_cap_shows_no_less():
    counts = [
        sum(1 + len(shown.symbols) for shown in select_map_files(shop(), RankingQuery("rate"), cap, EstimatingCounter()))
        for cap in range(0, 500, 9)
    ]
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] > 10


def test_all_is_shown_where_there_is_room():
    shown = select_map_files(shop(), RankingQuery("rate", (), PAST), 20_000, EstimatingCounter())
    assert all(not one.more for one in shown)


@given(TREES, st.text(max_size=60), st.integers(0, 20_000), st.sampled_from([EstimatingCounter(), EstimatingCounter(1.0), len]))
def test_no_map_of_any_tree_is_over_its_cap(texts, text, cap, count):
    files = DictFiles()
    files.texts = texts
    made = render_map_files(select_map_files(build_code_index(files), RankingQuery(text), cap, count))
    assert made == "" or count(made) <= cap


@given(st.integers(0, 400), st.sampled_from(["", "Cart.total", "letters `rate` mail.py"]))
def test_no_map_of_the_shop_is_over_its_cap(cap, text):
    made = render_map_files(select_map_files(shop(), RankingQuery(text, (), PAST), cap, EstimatingCounter()))
    assert made == "" or EstimatingCounter()(made) <= cap
