"""openai-agents' SQLiteSession: the reply's items before acting, the tool's output after."""

import asyncio
import sqlite3
from pathlib import Path

from agents import SQLiteSession
from workload import Said


class Contestant:
    package = "openai-agents"

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.session = SQLiteSession("bench", folder / "session.db")
        level = sqlite3.connect(folder / "session.db").execute("PRAGMA synchronous").fetchone()[0]
        assert level == 2, "it leaves SQLite's default, which is FULL"

    def prepare(self, said: Said) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
        name = f"call{said.step}"
        asked = [{"role": "user", "content": said.news}, {"role": "assistant", "content": said.reply}]
        return asked, [{"type": "function_call_output", "call_id": name, "output": said.output}]

    def step(self, prepared: tuple[list[dict[str, str]], list[dict[str, str]]]) -> None:
        for items in prepared:
            self.loop.run_until_complete(self.session.add_items(items))

    def load(self) -> object:
        return self.loop.run_until_complete(self.session.get_items())

    def close(self) -> None:
        self.session.close()
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
