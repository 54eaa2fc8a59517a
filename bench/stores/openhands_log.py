"""OpenHands SDK: its event log over its local file store, one file an event; made durable by an fsync of file and folder."""

import os
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # without a network its download thread and the import wait for each other

from openhands.sdk.conversation.event_store import EventLog
from openhands.sdk.event import MessageEvent
from openhands.sdk.io import LocalFileStore
from openhands.sdk.llm import Message, TextContent
from workload import Said


class Synced(LocalFileStore):
    def write(self, path: str, contents: str | bytes) -> None:
        super().write(path, contents)
        file = Path(self.get_full_path(path))
        if file.suffix == ".json":
            sync(file)
            sync(file.parent)


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class Contestant:
    package = "openhands-sdk"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = EventLog(Synced(str(folder)))

    def prepare(self, said: Said) -> list[MessageEvent]:
        texts = (("user", said.news), ("agent", said.reply), ("environment", said.output))
        roles = {"user": "user", "agent": "assistant", "environment": "user"}
        return [
            MessageEvent(source=source, llm_message=Message(role=roles[source], content=[TextContent(text=text)]))
            for source, text in texts
        ]

    def step(self, events: list[MessageEvent]) -> None:
        for event in events:
            self.log.append(event)

    def load(self) -> object:
        return list(EventLog(LocalFileStore(str(self.folder))))

    def close(self) -> None:
        pass
