"""The same facts are found in the same order, whether SQLite or PostgreSQL keeps them: prompts don't depend on the storage."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afresh.core.fact import Fact, FactKind, FactScope
from afresh.core.project_facts import FactQuery
from afresh.storage.postgres.storage import open_project_database
from afresh.storage.sql import fact_index
from afresh.storage.sql.database import SqlDatabase
from afresh.storage.sql.facts import record_fact
from afresh.storage.sql.schema import FACTS_SCHEMA
from afresh.storage.sqlite.database import Database

WORDS = (
    "parse",
    "parser",
    "HTTPHeader",
    "café",
    "cafe",
    "naïve",
    "Straße",
    "ΩMEGA",
    "x",
    "42",
    "the",
    "日本",
    "ledger_total",
    "Ⅷ",
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
FACTS = st.lists(st.tuples(st.sampled_from(WORDS), TEXTS), max_size=25)
Kept = SqlDatabase


@pytest.fixture
def both(postgres: Any, tmp_path: Path) -> Iterator[tuple[Kept, Kept]]:
    server = open_project_database(postgres.address, postgres.project, postgres.shared)
    files = Database(tmp_path / "memory.db", schema=FACTS_SCHEMA)
    with closing(server), closing(files):
        yield files, server


def learn(kept: Kept, facts: list[tuple[str, str]]) -> None:
    kept.discard()
    with kept.writing() as connection:
        for at, (subject, text) in enumerate(facts):
            fact = Fact(FactKind.NOTE, subject, text, scope=FactScope.PROJECT)
            record_fact(connection, f"task-{at % 2}", fact, "model", float(at))


def ask(kept: Kept, question: FactQuery) -> list[tuple[str, str, str]]:
    with kept.reading() as connection:
        found = fact_index.search_facts(connection, question)
    return [(one.task, one.fact.subject, one.fact.text) for one in found]


@given(FACTS, TEXTS, st.integers(1, 8))
def test_both_find_the_same_facts_in_the_same_order(both: tuple[Kept, Kept], facts: list[tuple[str, str]], text: str, most: int):
    for kept in both:
        learn(kept, facts)
    for question in (FactQuery(text, limit=most), FactQuery(text, task="task-1", own=True, limit=99)):
        assert ask(both[1], question) == ask(both[0], question)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(FACTS, TEXTS)
def test_both_agree_when_every_word_is_common(both: tuple[Kept, Kept], facts: list[tuple[str, str]], text: str):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fact_index, "MAX_FACTS_SEARCHED_DIRECTLY", 3)
        patch.setattr(fact_index, "COMMON_TERM_FACTS", 2)
        for kept in both:
            learn(kept, facts)
        assert ask(both[1], FactQuery(text, limit=5)) == ask(both[0], FactQuery(text, limit=5))


def test_a_word_of_the_subject_counts_for_more(both: tuple[Kept, Kept]):
    facts = [("other", "parse parse beta"), ("parse", "alpha beta"), ("third", "gamma delta"), ("fourth", "epsilon")]
    for kept in both:
        learn(kept, facts)
        assert [subject for _, subject, _ in ask(kept, FactQuery("parse", limit=9))] == ["parse", "other"]
