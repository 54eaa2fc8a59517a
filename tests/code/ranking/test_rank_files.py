import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from shop import PAST, SHOP, shop

from afresh.code.names_in_text import NameForm
from afresh.code.ranking.query import CERTAINTY_BY_FORM, DOTTED_CERTAINTY, RankingQuery, extract_query_terms
from afresh.code.ranking.rank_files import rank_files, rank_files_cached
from afresh.core.commit import CommitFiles, CommitHistory


def best(text: str = "", touched: tuple[str, ...] = (), history: CommitHistory = PAST, **more: str):
    return rank_files(shop(**more), RankingQuery(text, touched, history))


def reasons(found, path: str) -> tuple[str, ...]:
    (one,) = [each for each in found if each.path == path]
    return one.reasons


def test_a_file_that_the_text_names_comes_first():
    for text in (
        "weekly figures are wrong, see mail.py",
        "totals: shop/mail.py counts taxes of carts",
        "why does shop\\mail.py do it",
    ):
        first = best(text)[0]
        assert first.path == "shop/mail.py" and first.reasons[0] == "named in the task", text


def test_a_name_of_code_leads_to_what_defines_it():
    found = best("`parse_amount` fails on commas", history=CommitHistory(), shop__form="from shop.money import parse_amount\n")
    assert [one.path for one in found[:2]] == ["shop/money.py", "shop/form.py"]
    assert "defines `parse_amount`" in found[0].reasons
    assert found[0].symbols[0].name == "parse_amount", "and to its place in the file"


def test_a_method_is_found_by_its_class():
    found = best("Cart.total must round", history=CommitHistory())
    assert found[0].path == "shop/cart.py" and found[0].symbols[0].name == "Cart.total"


def test_words_of_the_text_are_found_in_any_form_and_said():
    found = best("customers unsubscribing are still mailed", history=CommitHistory())
    assert found[0].path == "shop/mail.py"
    assert "says: unsubscribing" in found[0].reasons and "path has: mailed" in found[0].reasons


def test_what_was_changed_when_the_like_was_said_comes_up_though_no_word_is_in_it():
    text = "letters are sent twice"
    assert best(text)[0].path == "shop/mail.py"
    assert "changed for “Letters went out twice”" in best(text)[0].reasons
    assert all("letters" not in SHOP[path] for path in SHOP)


def test_a_commit_that_changed_everything_tells_nothing():
    found = best("new layout", **{f"a__{number}": "" for number in range(40)})
    assert not [one for one in found if any("changed" in reason for reason in one.reasons if one.path.startswith("a/"))]


def test_the_test_of_a_file_comes_along():
    assert "tests mail.py" in reasons(best("send_receipt fails", history=CommitHistory()), "tests/test_mail.py")
    assert "tested by test_cart.py" in reasons(best("test_total is flaky", history=CommitHistory()), "shop/cart.py")


def test_what_is_in_work_draws_what_was_changed_with_it():
    found = best(touched=("shop/money.py", "gone.py"))
    assert found[0].path == "shop/money.py" and found[0].reasons[0] == "in work"
    assert "changed with money.py before" in reasons(found, "shop/cart.py")


def test_what_a_file_that_matches_imports_comes_up():
    assert "imported by cart.py" in reasons(best("Cart rate", history=CommitHistory()), "shop/base.py")


def test_an_overview_is_headed_by_what_most_leads_to():
    first = best()[0]
    assert first.path == "shop/base.py" and first.reasons[0] == "imported by 2 files"


def test_without_a_history_all_else_counts():
    found = best("Round to cents", history=CommitHistory())
    assert not [one for one in found if any("changed" in reason for reason in one.reasons)]


def test_hidden_signs_in_a_commit_do_not_reach_whoever_reads_the_reasons():
    history = CommitHistory("x", (CommitFiles("Letters\x1b]0;x\x07 went out", ("shop/mail.py",), 1.0),))
    assert "changed for “Letters\\x1b]0;x\\x07 went out”" in best("letters", history=history)[0].reasons


def test_the_same_question_of_the_same_code_is_answered_once():
    question = RankingQuery("`rate` is wrong", (), PAST)
    first, again = rank_files_cached(shop(), question, 3), rank_files_cached(shop(), question, 3)
    assert len(first) == 3 and all(one is other for one, other in zip(first, again, strict=True))
    other = rank_files_cached(shop(shop__money="def other(): ...\n"), question, 3)
    assert other != first, "other code is another question"


def test_the_order_does_not_hang_on_how_python_hashes():
    program = (
        "from shop import PAST, shop\n"
        "from afresh.code.ranking.query import RankingQuery\n"
        "from afresh.code.ranking.rank_files import render_map_files, select_map_files\n"
        "print(render_map_files(select_map_files(shop(), RankingQuery('Cart.total and `rate` of letters', (), PAST), 500, len)))"
    )
    here, source = Path(__file__).parents[1], Path(__file__).parents[3] / "src"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, text=True,
            env={"PYTHONPATH": f"{here}:{source}", "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(printed) == 1 and "shop/cart.py" in printed.pop()


def test_a_word_is_taken_for_a_name_the_more_it_looks_like_one():
    names = extract_query_terms("Fix `rate` in parse_amount, shop.mail and when Base fails").names
    assert names == {
        "rate": CERTAINTY_BY_FORM[NameForm.CODE],
        "parse_amount": CERTAINTY_BY_FORM[NameForm.CODE],
        "shop.mail": DOTTED_CERTAINTY,
        "shop": DOTTED_CERTAINTY,
        "mail": DOTTED_CERTAINTY,
        "Base": CERTAINTY_BY_FORM[NameForm.CAPITAL],
    }


def test_the_first_line_counts_twice():
    words = extract_query_terms("Sort carts\n\nThey were not sorted by price").words
    assert words["carts"] == 2 * words["price"] < words["sort"]


@given(st.text(max_size=300), st.lists(st.sampled_from(sorted(SHOP)), max_size=3))
def test_any_text_gets_an_order_of_files_that_exist(text: str, touched: list[str]):
    found = rank_files(shop(), RankingQuery(text, tuple(touched), PAST), 5)
    assert len({one.path for one in found}) == len(found) <= 5
    assert all(one.path in SHOP and 0 < one.score <= 1 for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
