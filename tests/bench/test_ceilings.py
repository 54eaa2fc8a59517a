"""No bench calls models unwatched: what takes more than its ceiling ends it."""

import importlib.util
import re
import sqlite3
from pathlib import Path

import pytest

from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, CallPurpose, SpendingLimits
from afresh.core.usage import Usage
from afresh.spending.ledger import SpendingLedger, SpendingTerms
from afresh.spending.price_list import FreePrices
from afresh.storage.sqlite.storage import open_sqlite_ledger
from support.fakes import FakeClock

BENCH = Path(__file__).parents[2] / "bench"
CALLING = re.compile(r"compose\.run_task\(|advance_task\(|ask_model\(|\battempt\(|\"afresh\.cli\.main\", \*|\bcall_model\(")
CHECKED = re.compile(r"(?:watch|ceilings)\.check\(\)|check_books\(")


@pytest.fixture
def ceilings():
    spec = importlib.util.spec_from_file_location("ceilings", BENCH / "ceilings.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_bench_that_works_on_tasks_checks_its_ceilings() -> None:
    calling = {path.name: path.read_text() for path in BENCH.glob("*.py") if CALLING.search(path.read_text())}
    assert {"first_token.py", "flat.py", "step.py"} <= calling.keys(), "the pattern still finds those that are known"
    assert [name for name, text in calling.items() if not CHECKED.search(text)] == []


@pytest.mark.parametrize(("taken", "over"), [(3_999, False), (4_001, True)])
def test_the_books_of_other_processes_tell_what_was_over(ceilings, tmp_path: Path, taken: int, over: bool) -> None:
    terms = SpendingTerms("p", FreePrices(), SpendingLimits(), free=True)
    books = SpendingLedger(open_sqlite_ledger(tmp_path / "afresh" / "ledger.db"), terms, FakeClock(), lambda text: None)
    call = CallBooking(
        task="t", project="p", kind=CallPurpose.WORK, model="m", step=3, ceiling=4_000, tokens=3_000, reserve=1_000
    )
    books.settle(books.book(call), Reply(usage=Usage(taken), counted=True))
    if not over:
        return ceilings.check_books(tmp_path)
    with pytest.raises(AssertionError, match=r"task t, work, step 3, m: 4,001 tokens, 4,000 is the ceiling"):
        ceilings.check_books(tmp_path)
    sqlite3.connect(tmp_path / "afresh" / "ledger.db").close()
    for held in (tmp_path / "afresh").iterdir():
        held.unlink()  # or the suite's own watch over all books finds it too
    return None
