"""LangGraph's SqliteSaver: the reply as a pending write, then a checkpoint of the state, which holds all messages so far."""

import sqlite3
from pathlib import Path

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.sqlite import SqliteSaver
from workload import Said


class Contestant:
    package = "langgraph-checkpoint-sqlite"
    whole_history = True

    def __init__(self, folder: Path) -> None:
        connection = sqlite3.connect(folder / "checkpoints.db", check_same_thread=False)
        self.saver = SqliteSaver(connection)
        self.saver.setup()
        connection.execute("PRAGMA synchronous = FULL")
        self.messages: list[dict[str, str]] = []
        self.config = {"configurable": {"thread_id": "bench", "checkpoint_ns": ""}}
        self.config = self.saver.put(self.config, empty_checkpoint(), {"source": "input", "step": 0}, {})

    def prepare(self, said: Said) -> tuple[int, list[dict[str, str]]]:
        texts = (("user", said.news), ("assistant", said.reply), ("tool", said.output))
        return said.step, [{"role": role, "content": text} for role, text in texts]

    def step(self, prepared: tuple[int, list[dict[str, str]]]) -> None:
        number, messages = prepared
        self.saver.put_writes(self.config, [("messages", messages[:2])], f"task{number}")
        self.messages = [*self.messages, *messages] if self.whole_history else messages
        checkpoint = {
            **empty_checkpoint(),
            "id": str(uuid6(clock_seq=number)),
            "channel_values": {"messages": self.messages},
            "channel_versions": {"messages": number},
        }
        self.config = self.saver.put(self.config, checkpoint, {"source": "loop", "step": number}, {"messages": number})

    def load(self) -> object:
        return self.saver.get_tuple({"configurable": {"thread_id": "bench", "checkpoint_ns": ""}})

    def close(self) -> None:
        self.saver.conn.close()
