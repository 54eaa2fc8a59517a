"""Every model passes the suite that is shipped for plugin writers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from afresh.adapters.models.anthropic_messages import AnthropicModel
from afresh.adapters.models.mailbox import MailboxModel, MailboxTimeouts
from afresh.adapters.models.offline import OfflineModel
from afresh.adapters.models.openai_chat import OpenAIModel
from afresh.adapters.models.provider import ProviderConnection
from afresh.adapters.models.recorded import RecordedModel
from afresh.adapters.models.scripted import ScriptedModel
from afresh.domain.action import Action, Reply, Usage
from afresh.domain.chain import link_events
from afresh.domain.event import JournalHead, ReplyReceived, CallRequested
from afresh.domain.window import CallAudit
from afresh.ports import Model
from afresh.testing.model_contract import ModelContract
from afresh.testing.models import ComputedModel, make_sample_request
from afresh.testing.server import ModelServer

REPLY = Reply("look", (Action("read", {"path": "a.py"}),), Usage(100, 20, 50))
KEY = "sk-test-0123456789"


class TestComputed(ModelContract):
    def make(self) -> Model:
        return ComputedModel(lambda request: REPLY)


class TestScripted(ModelContract):
    def make(self) -> Model:
        return ScriptedModel([REPLY, REPLY])


class TestOffline(ModelContract):
    def make(self) -> Model:
        return OfflineModel()


class TestRecorded(ModelContract):
    def make(self) -> Model:
        events = (CallRequested(1, CallAudit(make_sample_request().hash, 4_000, 100, (), ())), ReplyReceived(1, REPLY))
        return RecordedModel(link_events("T-1", JournalHead(), 0.0, events))


class TestMailbox(ModelContract):
    @pytest.fixture(autouse=True)
    def answered(self, tmp_path: Path) -> None:
        self.folder = tmp_path
        for number in (1, 2):
            path = tmp_path / f"{number:04d}-{self.request().hash[:12]}.reply.json"
            path.write_text('{"thought": "look", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}')

    def make(self) -> Model:
        return MailboxModel(self.folder, patience=MailboxTimeouts(reply=20.0))


class Served(ModelContract):
    secrets = (KEY,)

    @pytest.fixture(autouse=True)
    def served(self) -> Iterator[None]:
        with ModelServer([REPLY] * 4) as self.server:
            yield


class TestAnthropic(Served):
    def make(self) -> Model:
        return AnthropicModel("claude-test", ProviderConnection(key=KEY, base_url=self.server.anthropic_url))


class TestOpenAI(Served):
    def make(self) -> Model:
        return OpenAIModel("gpt-test", ProviderConnection(key=KEY, base_url=self.server.openai_url))
