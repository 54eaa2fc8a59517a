"""The check that no call takes more than its ceiling, with its broken twins: it goes red when one does."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, CallPurpose, SpendingLimits
from afresh.core.usage import Usage
from afresh.spending.ledger import SpendingLedger, SpendingTerms
from afresh.spending.price_list import FreePrices
from afresh.storage.sqlite.storage import open_sqlite_ledger
from support.ceiling_watch import CeilingWatch, find_calls_over_ceiling
from support.fakes import FakeClock

TESTS = Path(__file__).parents[1]
REQUEST = Request("", "message", (), 500)
TWIN = """
import pytest
from afresh.core.reply import Reply; from afresh.core.usage import Usage
from afresh.core.spending import UNLIMITED_LEDGER, CallPurpose, CallBooking
from afresh.core.prompt import Request
from afresh.models.call import ModelGate, call_model


class Model:
    def __init__(self, name):
        self.name = name

    def propose(self, request, hear):
        return Reply(usage=Usage(3_900, 200), counted=True)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_it_itself(name):
    call = CallBooking(task="t", project="p", kind=CallPurpose.WORK, model=name, ceiling=4_000, tokens=3_000, reserve=500)
    call_model(Request("", "message", (), 500), call, ModelGate(Model(name), UNLIMITED_LEDGER))
"""


def call(model: str = "openai:some", **more: int) -> CallBooking:
    sizes = {"ceiling": 4_000, "tokens": 3_000, "reserve": 500, **more}
    return CallBooking(task="t", project="p", kind=CallPurpose.WORK, model=model, **sizes)


def over(purchase: CallBooking, reply: Reply, measured: int = 3_000) -> list[str]:
    watch = CeilingWatch(lambda request: measured)
    watch.watched(lambda request, purchase, gate: reply)(REQUEST, purchase, None)
    assert watch.calls == 1
    return watch.over


def test_a_call_within_its_ceiling_is_fine():
    assert not over(call(), Reply(usage=Usage(3_500, 500), counted=True))


@pytest.mark.parametrize("usage", [Usage(3_501, 500), Usage(4_001, 0), Usage(0, 4_001)])
def test_a_report_over_the_ceiling_is_found(usage: Usage):
    (found,) = over(call(), Reply(usage=usage, counted=True))
    assert "4,001 tokens, 4,000 is the ceiling" in found and "test_a_report_over_the_ceiling" in found


def test_the_watch_stands_wherever_the_door_was_imported_to(monkeypatch: pytest.MonkeyPatch):
    door, other, stranger = ModuleType("door"), ModuleType("other"), ModuleType("stranger")
    door.call_model = other.call_model = lambda request, purchase, gate: Reply(usage=Usage(5_000), counted=True)
    stranger.call_model = untouched = lambda: None
    for module in (door, other, stranger):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    watch = CeilingWatch(lambda request: 0)
    watch.stand_at(door)
    other.call_model(REQUEST, call(), None)
    assert watch.over and door.call_model is other.call_model and stranger.call_model is untouched
    with pytest.raises(AssertionError, match="calls that took more"):
        watch.check()


def test_books_that_other_processes_have_written_are_looked_through(tmp_path: Path):
    path = tmp_path / "some" / "where" / "ledger.db"
    ledger = open_sqlite_ledger(path)
    books = SpendingLedger(ledger, SpendingTerms("p", FreePrices(), SpendingLimits(), free=True), FakeClock(), print)
    for model, usage in (("openai:a", Usage(3_900, 200)), ("openai:liar", Usage(3_900, 200)), ("openai:b", Usage(3_900, 100))):
        books.settle(books.book(call(model)), Reply(usage=usage, counted=True))
    (found,) = find_calls_over_ceiling(tmp_path)
    ledger.close()
    path.unlink()  # or it would be found at the end of this run, too
    assert "openai:a: 4,100 tokens" in found and "ledger.db" in found


@pytest.mark.parametrize(("names", "red"), [(["openai:some"], True), (["openai:liar", "liar"], False)])
def test_the_run_of_a_suite_goes_red(tmp_path: Path, names: list[str], red: bool):
    """With the very conftest of these tests."""
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text("utf-8"))
    (tmp_path / "test_twin.py").write_text(TWIN.replace("NAMES", repr(names)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-c", os.devnull, "."]
    paths = {"PYTHONPATH": str(TESTS.parent / "src")}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, **paths})
    assert (done.returncode != 0) is red, done.stdout + done.stderr
    assert ("openai:some: 4,100 tokens, 4,000 is the ceiling" in done.stdout) is red
