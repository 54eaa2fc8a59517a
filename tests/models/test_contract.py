"""Every model passes the suite that is shipped for plugin writers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from afresh.models.mailbox import MailboxModel, MailboxTimeouts
from afresh.models.offline import OfflineModel
from afresh.models.providers.anthropic_messages import AnthropicModel
from afresh.models.providers.connection import ProviderConnection
from afresh.models.providers.openai_chat import OpenAIModel
from afresh.models.scripted import ScriptedModel
from afresh.ports.model import Model
from support.fakes import ComputedModel
from support.model_contract import ModelContract
from support.model_server import ModelServer

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
