"""A real model over real HTTP, far too small for the work: whatever it decides, nothing that counts gives way."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from person import Person
from small_model import CONTEXT, missing

from afresh.app.project import open_project
from afresh.core.event import CallRequested, ReplyReceived
from afresh.core.prompt import Request
from afresh.core.reducer import fold_entries
from afresh.core.token_calibration import CeilingBreached
from afresh.models.providers.connection import ProviderConnection
from afresh.models.providers.openai_chat import OpenAIModel
from afresh.models.providers.openai_dialects import LLAMACPP
from support.model_contract import ModelContract, make_sample_request

pytestmark = [
    pytest.mark.journey,
    pytest.mark.small_model,
    pytest.mark.skipif(bool(missing()), reason=f"{', '.join(missing())}: make small-model"),
]
CEILING, RESERVE = 1_280, 0.12
TEMPLATE = f"""\
extends: base
limit: {CEILING}
reserve: {RESERVE}
tools: [read, edit, complete]
sections:
  fingerprint: {{tier: never}}
  outline: {{tier: never}}
  knowledge: {{tier: never}}
  work: {{tier: never}}
"""
"""Hardly more than what can't be left out: this model reads a hundred tokens a second."""
SECRET = "def secret():\n    return 1\n"
TEST = """\
import hashlib
import unittest

from secret import secret


class T(unittest.TestCase):
    def test_one(self):
        self.assertIsInstance(secret(), int)

    def test_all(self):
        self.assertEqual(hashlib.sha256(str(secret()).encode()).hexdigest()[:12], "000000000000")
"""
"""Nobody can make that pass, least of all by chance."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    program = [sys.executable, str(Path(__file__).with_name("small_model.py"))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdin and server.stdout
        yield f"{server.stdout.readline().strip()}/v1"
        server.stdin.close()


@pytest.fixture
def model(address: str) -> OpenAIModel:
    return OpenAIModel("smollm2", ProviderConnection(key="", base_url=address), LLAMACPP)


@pytest.fixture
def owner(person: Person, address: str, requires_sandbox, monkeypatch) -> Person:
    requires_sandbox()
    monkeypatch.setenv("LLAMACPP_BASE_URL", address)
    person.write("secret.py", SECRET)
    person.write("test_secret.py", TEST)
    person.write(".afresh/templates/tiny.yaml", TEMPLATE)
    person.commit("A secret")
    return person


def wander(owner: Person, steps: int, highest: int) -> list[str]:
    """At least as many steps as that in all, however often it stops and has to be told to go on, or claims to be done so often
    that its task is given up, or was told so often that no window would hold it once more: then another is ordered. Their ids."""
    check, taken, tasks = f"{sys.executable} -m unittest test_secret", 0, list[str]()
    while taken < steps:
        told = owner.types(
            "run", f"find the secret, {len(tasks) + 1}", "-t", "tiny", "-c", check, "-m", "llamacpp:smollm2",
            "--set", f"max_steps={steps - taken}", "--set", f"max_budget={highest}", "--json",
        )  # fmt: skip
        before = 0
        while told.json["status"] == "blocked" and before < (now := told.json["steps"]) < steps - taken:
            before = now
            if not heard(owner, told.json["task"]):
                break
            told = owner.types("resume", told.json["task"], "--json")
        assert told.json["steps"] and told.json["status"] in ("blocked", "failed"), told.out + told.err
        taken, tasks = taken + told.json["steps"], [*tasks, told.json["task"]]
    return tasks


def heard(owner: Person, task: str) -> bool:
    """Whether it could be told to go on. Nothing is taken that would not fit, and the question stays open."""
    told = owner.types("answer", task, "go on")
    assert told.code == 0 or ("that does not fit into a prompt" in told.err and owner.shown(task)["question"]), told.err
    return told.code == 0


def sound(owner: Person, task: str) -> None:
    """The journal's chain holds, the state is what it says, calls are rebuilt to the byte and files from nothing."""
    project = open_project(owner.repo)
    assert project.store.load(task) == fold_entries(None, project.store.journal(task))
    assert owner.types("context", "verify", task).code == 0
    session = owner.state / "sessions" / f"{task}.md"
    before = session.read_bytes()
    shutil.rmtree(session.parent)
    assert owner.types("doctor", "--rebuild").code == 0
    assert session.read_bytes() == before


def figures(owner: Person, task: str) -> dict[str, Any]:
    """Every reply was carried out, or rejected with a word to the model; none took more than the ceiling."""
    happened = [entry.event for entry in open_project(owner.repo).store.journal(task)]
    budgets = [one.audit.budget for one in happened if isinstance(one, CallRequested)]
    replies = [one.reply for one in happened if isinstance(one, ReplyReceived)]
    assert not [one for one in happened if isinstance(one, CeilingBreached)]
    for budget, reply in zip(budgets, replies, strict=True):
        assert reply.counted and reply.usage.input + reply.usage.output <= budget <= CONTEXT // 5
    rejected = [reply for reply in replies if not reply.actions]
    assert all("carried out" in reply.thought or "]" not in reply.thought for reply in rejected)
    read = sum(reply.usage.input for reply in replies)
    return {"steps": len(replies), "rejected": len(rejected), "input": read, "cached": sum(one.usage.cached for one in replies)}


def bad_decisions(owner: Person, steps: int, highest: int = CEILING) -> None:
    before = owner.belongings()
    for task in wander(owner, steps, highest):
        print(json.dumps(figures(owner, task)))
        sound(owner, task)
    assert owner.belongings() == before, "the user's own checkout is as it was"
    assert set(owner.git("for-each-ref", "--format=%(objectname)", "refs/heads").split()) == {owner.git("rev-parse", "HEAD")}, (
        "nothing that was not verified is committed"
    )


def test_a_bad_decision_breaks_nothing(owner: Person) -> None:
    bad_decisions(owner, 1)


@pytest.mark.torture
def test_a_hundred_bad_decisions_break_nothing(owner: Person) -> None:
    bad_decisions(owner, 100, CONTEXT // 5)


@pytest.mark.torture
class TestContract(ModelContract):
    """The contract itself is kept daily by the same adapter with a server of our own (tests/models/test_contract.py)."""

    deterministic = False

    @pytest.fixture(autouse=True)
    def served(self, address: str) -> None:
        self.address = address

    def make(self) -> OpenAIModel:
        return OpenAIModel("smollm2", ProviderConnection(key="", base_url=self.address), LLAMACPP)

    def request(self) -> Request:
        return make_sample_request(reserve=40)
