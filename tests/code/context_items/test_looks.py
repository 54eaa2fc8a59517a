"""The items that a prompt may show of the code, section by section."""

from dataclasses import replace
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st
from item_samples import text_of
from trees import Texts, state

from afresh.code.code_insight import ITEM_SOURCES, CodeInsight
from afresh.code.context_items.target_definitions import find_targets
from afresh.code.index.code_index import build_code_index
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_record import StepRecord
from afresh.core.verdict import Baseline, CheckRun, FailedTest
from support.states import replace_in_parts

ALL = frozenset({*ITEM_SOURCES, "fingerprint"})
SHOP = {
    "shop/__init__.py": "from shop.checks import *\n",
    "shop/checks.py": dedent('''
        from shop.errors import EmailInvalid, PhoneInvalid


        def message(text):
            return lambda function: function


        @message("expected an email address")
        def Email(value):
            """Verify that the value is an email address."""
            if "@" not in value:
                raise EmailInvalid(value)
            return value


        @message("expected a phone number")
        def Phone(value):
            """Verify that the value is a phone number."""
            if not value.isdigit():
                raise PhoneInvalid(value)
            return value


        @message("expected a colour")
        def Colour(value):
            """Verify a colour."""
            shade = value.strip()
            return shade.lower()
    ''').lstrip(),
    "shop/errors.py": "class EmailInvalid(ValueError): pass\n\n\nclass PhoneInvalid(ValueError): pass\n",
    "shop/order.py": dedent("""
        from shop.checks import Email, Phone


        def accept(order, currency):
            contact = Email(order["mail"])
            return contact, Phone(order["phone"])


        def refuse(order):
            return accept(order, "EUR") is None
    """).lstrip(),
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef order():\n    return {'mail': 'a@b', 'phone': '1'}\n",
    "tests/test_checks.py": dedent("""
        import pytest

        from shop.checks import Email
        from shop.order import accept


        def test_an_email_has_an_at_sign():
            assert Email("a@b") == "a@b"
            with pytest.raises(ValueError):
                Email("a")


        def test_accept_takes_both(order):
            assert accept(order, "EUR") == ("a@b", "1")
    """).lstrip(),
    "docs/checks.md": "Email and Phone check what people type.\n",
}


def looked(goal: str, type: str = "implement_feature", files: Texts | None = None, about: tuple[Region, ...] = (), **fields):
    """Return the items of a task by section, as pairs of subject and text."""
    files = files or Texts(dict(SHOP))
    found: dict[str, list[tuple[str, str]]] = {}
    for look in CodeInsight().looks(state(goal, type, **fields), files, ALL, about):
        found.setdefault(look.kind, []).append((look.subject, text_of(look)))
    return found


def test_an_option_is_shown_where_one_like_it_stands():
    [(subject, lines), absent, *_] = looked("Add `discount=True` beside `currency=`")["callers"]
    assert subject == "where currency is"
    assert lines == "shop/order.py:4 def accept(order, currency):"
    assert absent == ("named in the task, and not found in the code", "discount")


def test_of_an_attribute_the_lines_that_assign_it_come_first():
    source = """
        import functools


        class Meter:
            @property
            def totals(self):
                return self._totals

            def wraps(self, function):
                @functools.wraps(function)
                def counted():
                    counted.totals = self.totals
                    return function()

                if self.totals == 3:
                    counted.totals: dict = {}
                return counted
    """
    files = Texts({"meter.py": dedent(source).lstrip()})
    found = dict(looked("After functools.wraps, `.totals` is empty; value.astimezone gives 3", "fix_bug", files)["callers"])
    assert found == {
        "where functools.wraps is": "meter.py:10 @functools.wraps(function)",
        "where .totals is": "meter.py:12 (4 lines) counted.totals = self.totals\nmeter.py:16 counted.totals: dict = {}",
    }


def test_a_name_that_a_module_of_the_project_should_have_and_has_not_is_reported():
    assert dict(looked("Why is shop.missing_check called?")["callers"]) == {
        "named in the task, and not found in the code": "shop.missing_check"
    }


def test_names_in_items_of_a_numbered_goal_have_a_pointer_until_the_item_is_done():
    goal = "Change the shop:\n\n1. `--eager` reads `message`\n2. an `Email` may hold `CURRENCY_CODES`\n3. checks of a phone\n"
    plan = (PlanItem("eager message"), PlanItem("email codes"), PlanItem("check phones"))
    files = Texts({**SHOP, "shop/run.py": 'FLAGS = ["--eager"]\n', "setup.cfg": "codes = CURRENCY_CODES\n"})
    first = dict(looked(goal, files=files, plan=plan)["callers"])
    assert "where --eager is" not in first, "its code is shown"
    assert first["where CURRENCY_CODES is"] == "setup.cfg:1 codes = CURRENCY_CODES"
    shown = dict(looked(goal, files=files, plan=plan)["target"])
    assert 'FLAGS = ["--eager"]' in shown["shop/run.py:1-1 where --eager is"] and any(" Email" in subject for subject in shown)
    begun = (PlanItem("eager message", done=True), *plan[1:])
    later = looked(goal, files=files, plan=begun, changed=("shop/run.py",))
    assert "where CURRENCY_CODES is" in dict(later["callers"]) and "where --eager is" not in dict(later["callers"])
    assert later["target"][0][0].endswith("Email, named in your plan"), "what the next item needs comes first"


def test_what_the_task_names_is_shown_whole_with_the_reason():
    [(subject, source)] = looked("`Phone` lets letters pass", "fix_bug")["target"]
    assert subject == "shop/checks.py:16-21 Phone"
    assert (
        source.splitlines()[0] == '   16 @message("expected a phone number")'
        and source.splitlines()[-1] == "   21     return value"
    )


def test_what_a_bug_report_does_not_name_is_found_by_its_words_and_of_other_tasks_nothing_is_guessed():
    current = state("The shade of a colour is not lower case", "fix_bug")
    [_, target, *_] = CodeInsight().looks(current, Texts(dict(SHOP)), {"target"})
    assert target.subject == "shop/checks.py:24-28 Colour, shares words with the task"
    assert "target" not in looked("The shade of a colour is not lower case")


def test_each_caller_is_a_line_with_its_place_and_tests_are_counted():
    found = looked("mend `accept`", "refactor")["callers"]
    assert found == [("callers of accept", "shop/order.py:10 in refuse\nand 1 test")]


def test_a_function_that_is_only_passed_on_has_uses_and_no_callers():
    source = "def outer(keep):\n    def inner_work():\n        return 1\n\n    return keep(inner_work)\n"
    found = looked("mend `inner_work`", "refactor", Texts({"work.py": source}))["callers"]
    assert found == [("uses of outer.inner_work", "work.py:5 in outer (no call)")]


def test_tests_are_listed_by_name_with_their_fixtures():
    found = [text for _, text in looked("mend `accept` and `Email`", "refactor")["tests"]]
    assert found == [
        "tests/test_checks.py:13 test_accept_takes_both(order)", "tests/test_checks.py:7 test_an_email_has_an_at_sign"
    ]  # fmt: skip


def test_a_test_that_was_read_is_not_told_again():
    seen = (Region("tests/test_checks.py", 1, 40, 1),)
    assert "tests" not in looked("mend `accept`", "refactor", regions=seen)


def failing(detail: str) -> Baseline:
    failure = FailedTest("tests/test_checks.py::test_accept_takes_both", "AssertionError", detail)
    return Baseline((CheckRun("pytest", 1, failures=(failure,)),))


def test_what_a_failing_test_went_through_and_its_fixtures_are_shown():
    found = looked("something fails", "fix_bug", baseline=failing("tests/test_checks.py:14: in test\nshop/order.py:6: in accept"))
    assert found["target"][0][0] == "shop/order.py:4-6 accept, in the traceback of test_accept_takes_both"
    [(subject, source)] = found["fixture"]
    assert subject == "tests/conftest.py:4-6 order, fixture of test_accept_takes_both"
    assert "    6     return {'mail': 'a@b', 'phone': '1'}" in source


def next_tests(**fields) -> list[tuple[str, str]]:
    return looked("Mend the order", changed=("shop/order.py",), **fields).get("beside", [])


def test_the_nearest_tests_are_told_while_they_are_next_and_for_no_longer():
    tests = "tests/test_checks.py"
    code = Region("shop/order.py", 5, 5, 4, changed=True)
    assert next_tests(step=4, regions=(code,)) == [(tests, "the code was just changed")]
    assert next_tests(step=7, regions=(code,)) == [], "that was three steps ago"
    assert next_tests(step=4, regions=(code, Region(tests, 1, 1, 4, changed=True))) == [], "they were changed with it"
    said = PlanItem("add tests for it", False)
    assert next_tests(step=9, regions=(code,), plan=(said,)) == [(tests, "your plan speaks of tests")]
    assert next_tests(step=9, regions=(code,), plan=(replace(said, done=True), PlanItem("see the latest order", False))) == []
    assert "beside" not in looked("Mend the order", plan=(said,)), "before any change all that lies near is shown"


def test_new_code_is_tested_beside_what_it_uses():
    texts = {**SHOP, "shop/late.py": "from shop.checks import Phone\n\n\ndef late(value):\n    return Phone(value)\n"}
    region = Region("shop/late.py", 1, 5, 2, changed=True)
    found = looked("Add it", files=Texts(texts), changed=("shop/late.py",), step=2, regions=(region,))
    assert found["beside"] == [("tests/test_checks.py", "the code was just changed")]


def test_what_the_task_has_made_itself_is_no_pattern_for_it():
    asked = "Add a check for a postcode to shop/checks.py, like those for email and phone"
    new = (
        '\n\n@message("expected a postcode")\ndef Postcode(value):\n    """Verify a check for a postcode."""\n    return value\n'
    )
    own = {"shop/postcode.py": 'def check_postcode(value):\n    """Like email and phone."""\n    text = value\n    return text\n'}
    old = {"shop/length.py": 'def check_length(value):\n    """Like email."""\n    text = value\n    return text\n'}
    texts = {**SHOP, **old, **own, "shop/checks.py": SHOP["shop/checks.py"] + new}
    lines = texts["shop/checks.py"].count("\n")
    about = (Region("shop/checks.py", lines - 5, lines, 0, changed=True), Region("shop/postcode.py", 1, 4, 0, changed=True))
    before = looked(asked, files=Texts(texts))["similar"]
    after = looked(asked, files=Texts(texts), about=about, changed=("shop/checks.py", "shop/postcode.py"))["similar"]
    assert "ostcode" in "".join(text for _, text in before), "without that they would be the nearest"
    assert after and "ostcode" not in "".join(subject + text for subject, text in after)


def test_a_test_beside_is_the_pattern_of_a_test():
    found = looked("Test `accept` for an order without a phone", "write_tests")["similar"]
    assert found[0][0].endswith(", a test beside") and found[0][0].startswith("tests/test_checks.py:")
    assert ("imported in tests/test_checks.py", "pytest, Email, accept") in found


def test_names_of_plan_and_thought_count_after_those_of_the_order():
    files, record = Texts(dict(SHOP)), StepRecord(1, "Look at `refuse` next.", (), "", True)
    current = state("mend `Phone`", "fix_bug", plan=(PlanItem("then `Colour`"),), recent=(record,))
    found = [(one.symbol.name, one.why) for one in find_targets(build_code_index(files), current)][:3]
    assert found == [
        ("Phone", "named in the task"), ("Colour", "named in your plan"), ("refuse", "named in your last thought"),
    ]  # fmt: skip


def test_only_what_is_wanted_is_worked_out():
    current, files = state("mend `Phone`", "fix_bug"), Texts(dict(SHOP))
    assert [look.kind for look in CodeInsight().looks(current, files)] == ["outline"]
    assert {look.kind for look in CodeInsight().looks(current, files, {"callers"})} == {"outline", "callers"}


def test_a_file_that_changed_behind_our_back_is_shown_as_it_is_now():
    files, insight, current = Texts(dict(SHOP)), CodeInsight(), state("`Phone` lets letters pass", "fix_bug")
    before = [look for look in insight.looks(current, files, {"target"}) if look.kind == "target"]
    files.texts["shop/checks.py"] = "# moved\n" + SHOP["shop/checks.py"].replace("value.isdigit()", "value.isdecimal()")
    [after] = [look for look in insight.looks(current, files, {"target"}) if look.kind == "target"]
    assert after.subject == "shop/checks.py:17-22 Phone" and text_of(before[0]) != text_of(after)
    assert "   20     if not value.isdecimal():" in text_of(after)


def numbered(looks: dict[str, list[tuple[str, str]]]):
    for section in ("target", "similar", "fixture"):
        for subject, text in looks.get(section, ()):
            for line in text.splitlines():
                if line[:1] == " " and line[1:5].strip().isdigit():
                    yield subject.partition(":")[0], int(line[1:5]), line[6:]


@given(
    st.lists(
        st.sampled_from(("accept", "`Phone`", "colour", "test", "errors", "shop/order.py", "currency=", "email")), min_size=1
    )
)
def test_every_numbered_line_is_the_line_of_the_file_whatever_is_asked(words):
    files = Texts(dict(SHOP))
    for path, number, line in numbered(looked(" ".join(words), "fix_bug", files)):
        assert files.texts[path].splitlines()[number - 1] == line


CODE_FILES = sorted(path for path in SHOP if path.endswith(".py"))


@given(st.lists(st.sampled_from(CODE_FILES), max_size=3), st.sampled_from(("accept", "Email is wrong", "shop/checks.py")))
def test_the_same_tree_and_state_give_the_same_looks_whatever_was_looked_at_before(others, goal):
    files, used = Texts(dict(SHOP)), CodeInsight(kept={})
    for path in others:
        used.looks(state(f"mend {path}"), Texts({**SHOP, path: "x = 1\n"}), ALL)
    current = replace(state(goal, "fix_bug"), workspace=replace(state(goal, "fix_bug").workspace, first_snapshot=goal))
    assert used.looks(current, files, ALL) == CodeInsight().looks(current, files, ALL)


def test_the_fingerprint_stays_as_it_was_when_the_task_began():
    files, kept, current = (
        Texts(dict(SHOP)),
        dict[str, str](),
        replace(state("mend `Phone`"), workspace=replace(state("mend `Phone`").workspace, first_snapshot="snapshot")),
    )
    first = [look for look in CodeInsight(kept=kept).looks(current, files, {"fingerprint"}) if look.kind == "fingerprint"]
    files.texts |= {f"shop/new_{number}.py": "def f(): pass\n" for number in range(40)}
    later: State = replace_in_parts(current, changed=("shop/new_1.py",))
    again = [look for look in CodeInsight(kept=kept).looks(later, files, {"fingerprint"}) if look.kind == "fingerprint"]
    assert first == again and text_of(first[0])
