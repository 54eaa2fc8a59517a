"""Money, end to end over real HTTP: limits stop the work and leave it whole, a person lets it go on, and `afresh spend` tells."""

import json
from collections.abc import Sequence

import pytest
from person import CHECK, COMPLETE, MEND, Person

from afresh.app.compose import RunTerms, run_task
from afresh.app.project import open_project
from afresh.app.spending import spending_ledger as books
from afresh.app.spending.read_spending import hash_project_root
from afresh.core.action import Action
from afresh.core.ledger import SpendingFilter
from afresh.core.reply import Reply
from afresh.core.spending import SpendingAccount
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonAct, PersonRequest
from afresh.core.task import TaskStatus
from afresh.core.usage import Usage
from support.model_server import ModelServer

MODEL = "openai:some-model"
LOOK = ("read", {"path": "calc.py"})
PRICE = '[prices."openai:some-model"]\ninput = 100\noutput = 100\n'
"""So dear that a call of a few thousand tokens costs some tens of cents."""


def reply(*steps) -> Reply:
    return Reply("As asked.", tuple(Action(tool, dict(args)) for tool, args in steps), Usage(2_000, 40))


LOOKS, DONE = [reply(LOOK)] * 30, [reply(MEND, COMPLETE)]


@pytest.fixture
def shop(person: Person, monkeypatch: pytest.MonkeyPatch):
    """A provider with a price, and the user's own limits."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    config = person.folder / "config" / "afresh" / "config.toml"
    config.parent.mkdir(parents=True)

    class Shop:
        def limits(self, text: str, prices: str = PRICE) -> None:
            config.write_text(f"[limits]\n{text}\n{prices}")

        def sells(self, script: Sequence[Reply]) -> ModelServer:
            server = ModelServer(script)
            monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
            return server

    return Shop()


def ordered(person: Person, *more: str, goal: str = "double is wrong") -> str:
    return person.adds(goal, "--model", MODEL, *more)


@pytest.mark.promise("a surprising bill")
def test_a_task_that_has_spent_its_limit_asks_and_an_answer_allows_as_much_again(person: Person, shop):
    shop.limits("call = 5\ntask = 0.9")
    with shop.sells([*LOOKS[:3], *DONE]) as server:
        task = ordered(person)
        told = person.types("work", "--no-sandbox", "--json")
        assert told.code == 3 and told.json[0]["status"] == "blocked"
        stopped = len(server.received)
        assert 1 <= stopped < 4
        question = person.shown(task)["question"]
        assert "the limit of $0.90 for one task is reached" in question and "Answer to allow as much again" in question
        assert task in person.types("answer").words
        assert person.types("work", "--no-sandbox").words.endswith("no tasks ready"), "it is in nobody's way"
        assert person.types("answer", task, "1").code == 0
        person.types("work", "--no-sandbox", "--json")
        assert len(server.received) > stopped
    assert "ALERT: 50 % of the limit of $0.90 for one task" in told.err


def test_a_review_of_a_changed_test_is_within_the_limit_or_waits_for_more(person: Person, shop):
    easier = ("edit", {"path": "test_calc.py", "old": "assertEqual(double(2), 4)", "new": "assertGreater(double(2), 3)"})
    step = Reply("Both.", tuple(Action(tool, dict(args)) for tool, args in (MEND, easier, COMPLETE)), Usage(3_600, 40))
    review = Reply(json.dumps({"how": "ordered", "asked": True, "quote": "Make test_two easier"}), usage=Usage(500, 60))
    shop.limits("call = 5\ntask = 0.42")
    with shop.sells([step, review]) as server:
        task = person.adds("double is wrong. Make test_two easier", "--model", MODEL, "--check", CHECK)
        assert person.types("work", "--no-sandbox", "--json").json[0]["status"] == "blocked"
        assert "the limit of $0.42 for one task is reached" in person.shown(task)["question"] and len(server.received) == 1
        assert person.types("answer", task, "1").code == 0
        assert person.types("work", "--no-sandbox", "--json").json[0]["status"] == "done"
    calls = {row["name"]: row["calls"] for row in person.types("spend", "--by", "kind", "--json").json["lines"]}
    assert calls == {"work": 1, "review": 1}, "and the step is not bought again"


def test_whoever_is_at_the_terminal_is_asked_about_a_limit_at_once(person: Person, shop):
    class Watching:
        """Allows it once, then stops."""

        def __init__(self) -> None:
            self.asked = list[str]()

        def at_pause(self, state: State) -> PersonRequest | None:
            self.asked.append(state.dialogue.question)
            return PersonRequest(PersonAct.GO) if len(self.asked) == 1 else None

    shop.limits("call = 5\ntask = 0.9")
    there = Watching()
    with shop.sells(LOOKS) as server:
        task = ordered(person)
        state = run_task(open_project(person.repo), task, RunTerms(no_sandbox=True, person=there))
    assert len(there.asked) == 2 and all("the limit of $0.90 for one task is reached" in one for one in there.asked)
    assert state and state.status is TaskStatus.BLOCKED and len(server.received) > 3, "it went on after the first answer"


def test_a_day_s_limit_stops_everything_until_a_person_resets_it(person: Person, shop):
    shop.limits("call = 5\ntask = 50\nday = 0.5")
    with shop.sells([*DONE, *LOOKS]) as server:
        first, second = ordered(person), ordered(person, goal="double is still wrong")
        told = person.types("work", "--until-empty", "--no-sandbox", "--json")
        made = len(server.received)
        assert told.error["kind"] == "OverLimit" and "$0.50 a day is reached" in told.error["what"]
        assert (
            "`afresh spend --reset day` allows as much again" in told.error["next"] and "nothing was sent" in told.error["safe"]
        )
        assert f"afresh resume {second}" in told.error["next"]
        assert [row["task"] for row in told.json] == [first], "what was done before is told"
        assert person.types("work", "--until-empty", "--no-sandbox").code == 3
        assert person.types("resume", second, "--no-sandbox").code == 3 and len(server.received) == made, "nothing was asked"
        assert "No model calls until you run `afresh spend --reset day`" in person.types("status").words
        assert person.types("spend", "--json").json["stopped"][0]["limit"] == "day"
        assert person.types("spend", "reset", "day").code == 0
        assert person.types("resume", second, "--no-sandbox", "--json").code == 3 and len(server.received) > made
        assert person.shown(second)["status"] in ("running", "blocked"), "it can be resumed"


def test_what_a_model_costs_must_be_known_where_the_user_has_set_a_limit(person: Person, shop):
    shop.limits("day = 3", prices="")
    with shop.sells(DONE) as server:
        told = person.types("run", "double is wrong", "--check", "true", "--model", MODEL)
        assert told.code == 3 and person.types("status", "--json").json["tasks"] == []
        assert "the price of openai:some-model is unknown" in told.words and '[prices."openai:some-model"]' in told.words
        assert not server.received


def test_without_a_price_a_limit_of_tokens_stops_the_work_and_nothing_is_called_free(person: Person, shop):
    shop.limits("task_tokens = 6000", prices="")
    with shop.sells([*LOOKS[:9], *DONE]) as server:
        task = ordered(person)
        told = person.types("work", "--no-sandbox")
        assert "price of openai:some-model is unknown: limits are 6,000 tokens for this task and 8,000,000 a day" in told.words
        assert "6,000 tokens of unknown price for one task is reached" in told.words or "6,000 tokens for one task" in told.words
        assert len(server.received) < 3 and person.shown(task)["status"] == "blocked"
    shown, spend = person.types("show", task).words, person.types("spend").words
    assert "unknown (no price for 2,040 tokens)" in shown and "unknown" in spend and "2,040 tokens" in spend
    assert "$0.00" not in shown and "$0.00" not in spend
    limits = {one["limit"]: one for one in person.types("spend", "--json").json["limits"]}
    assert limits["day"]["unpriced_tokens"] == 2_040
    section = person.types("spend", "--by", "section").words
    assert "$0.00" not in section and "unknown" in section


def test_a_repository_can_set_neither_limits_nor_prices(person: Person, shop):
    for table in ("[limits]\nday = 900", PRICE):
        person.write(".afresh/config.toml", table)
        assert "can't be set in this file" in person.types("answer").words


def test_books_that_can_t_be_written_stop_providers_and_not_the_free(person: Person, shop):
    shop.limits("day = 9")
    place = person.folder / "data" / "afresh" / "ledger.db"
    place.parent.mkdir(parents=True)
    place.write_text("no database " * 100)
    with shop.sells(DONE) as server:
        ordered(person)
        assert "so no model is called" in person.types("work", "--no-sandbox").words and not server.received
    assert person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox", "--json").json["status"] == "done"
    assert "can't be read" in person.types("status").words and "ledger unreadable" in person.types("show").words


def test_spend_tells_the_same_whichever_way_it_is_asked(person: Person, shop):
    shop.limits("call = 5\ntask = 50\nday = 50")
    with shop.sells([*LOOKS[:2], *DONE]):
        task = ordered(person)
        told = person.types("work", "--no-sandbox", "--json").json
    assert told[0]["status"] == "done"
    found = {
        by: person.types("spend", "--by", by, "--json").json for by in ("day", "task", "kind", "section", "model", "project")
    }
    sums = {by: sum(line["nano_dollars"] for line in one["lines"]) for by, one in found.items()}
    assert all(abs(amount - sums["task"]) <= 20 for amount in sums.values()) and sums["task"] == 3 * 2_040 * 100_000
    (line,) = found["task"]["lines"]
    assert (line["name"], line["calls"], line["contexts"], line["steps"]) == (task, 3, 3, 3) and line["accumulating"] > 0
    assert found["kind"]["kinds"]["work"]["average"] == 2_000
    assert {"task", "(the reply)"} <= {line["name"] for line in found["section"]["lines"]}
    assert "$0.61" in person.types("spend").words and "$0.61" in person.types("show", task).words
    assert person.shown(task)["cost"]["dollars"] == pytest.approx(0.612)
    for by in found:
        assert person.types("spend", "--by", by).code == 0
    assert person.types("spend", "--since", "yesterday-ish").code == 2


def test_lost_books_are_put_back_from_the_journals(person: Person, shop):
    shop.limits("call = 5\ntask = 50\nday = 50")
    with shop.sells([*LOOKS[:2], *DONE]):
        ordered(person)
        person.types("work", "--no-sandbox")
    person.runs(person.script([MEND], [COMPLETE]), "--no-sandbox")
    before = person.types("spend", "--by", "model", "--json").json
    for file in (person.folder / "data" / "afresh").glob("ledger.db*"):
        file.unlink()
    assert person.types("spend", "--json").json["whole"]["calls"] == 0
    assert "restored 5 calls" in person.types("doctor", "--rebuild").words
    assert person.types("spend", "--by", "model", "--json").json["lines"] == before["lines"]
    assert "put back" not in person.types("doctor", "--rebuild").words, "once"


@pytest.mark.parametrize(("prices", "cost"), [("", 0), ('[prices."vllm:own"]\ninput = 10\noutput = 10\n', 2_040 * 10_000)])
def test_a_server_of_one_s_own_is_free_unless_priced_also_when_the_books_are_put_back(
    person: Person, shop, monkeypatch: pytest.MonkeyPatch, prices: str, cost: int
):
    shop.limits("call = 5\ntask = 50\nday = 50", prices)
    with shop.sells(DONE) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.openai_url)
        person.adds("double is wrong", "--model", "vllm:own")
        person.types("work", "--no-sandbox")
    for lost in (False, True):
        if lost:
            for file in (person.folder / "data" / "afresh").glob("ledger.db*"):
                file.unlink()
            assert "restored 1 call" in person.types("doctor", "--rebuild").words
        (line,) = person.types("spend", "--by", "model", "--json").json["lines"]
        assert (line["name"], line["nano_dollars"], line["price_unknown"]) == ("vllm:own", cost, 0)


def test_a_call_whose_process_died_is_settled_from_the_journal_or_stays_at_its_worst(person: Person, shop):
    shop.limits("call = 5\ntask = 50\nday = 50")
    with shop.sells([*LOOKS[:2], *DONE]):
        task = ordered(person)
        person.types("work", "--no-sandbox")
    project = open_project(person.repo)
    with project.ledger._database.writing() as connection:  # pyright: ignore
        worst = connection.execute("SELECT sum(worst) FROM call WHERE step > 1").fetchone()[0]
        connection.execute(
            "UPDATE call SET state = 'booked', paid = 0, worker = 'nobody', step = step + 5 * (step = 3) WHERE step > 1"
        )
    project = open_project(person.repo)
    booked = project.ledger.calls(SpendingFilter(project=hash_project_root(project.paths.root), only_booked=True))
    assert [(lost.booking.call.step, lost.is_open, lost.booking.worker) for lost in booked] == [
        (2, True, "nobody"), (8, True, "nobody"),
    ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(books, "is_worker_dead", lambda worker: True)
        books.reconcile_ledger(project)
    rows = [(call.booking.call.step, call.status, call.payment) for call in project.ledger.calls(SpendingFilter())]
    assert (rows[1][:2], rows[1][2].paid) == ((2, "settled"), 2_040 * 100_000)
    assert rows[2][:2] == (8, "booked") and "counted at its worst" in rows[2][2].note and worst
    assert not project.ledger.tripped(SpendingAccount(hash_project_root(project.paths.root), task, 0.0))
