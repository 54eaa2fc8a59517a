"""A model behind a folder: each request is a file, and whoever writes the reply's file is the model.

    0007-1f2e3d4c5b6a.request.json    the exact request (written first)
    0007-1f2e3d4c5b6a.request.md      the same to read, and how to answer
    0007-1f2e3d4c5b6a.reply.json      the answer that is waited for
    0007-1f2e3d4c5b6a.rejected.json   an answer that could not be used, and why: .problem.txt

The name is made of the number of the call and the request's hash, so a restarted process finds what it had asked and what was
answered meanwhile, and nothing is asked twice.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from afresh.adapters.models.letter import letter
from afresh.adapters.models.replies import EXAMPLE, Count, check_tools, estimate, reply_from, with_usage
from afresh.domain.action import Reply
from afresh.domain.codec import encode
from afresh.domain.window import Request
from afresh.errors import BadInput, TryAgain
from afresh.ports import Hear, unheard

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to wait for a reply (0: for ever), and to let a file that does not parse be finished by its writer."""

    reply: float = 0.0
    writer: float = 2.0


PATIENCE = Patience()


class Mailbox:
    """`start` is the number of calls that the task has bought before."""

    name = "mailbox"

    def __init__(
        self, folder: Path, start: int = 0, window: int = 200_000, count: Count = estimate, patience: Patience = PATIENCE
    ) -> None:
        self.folder, self.position, self.window, self.count, self.patience = folder, start, window, count, patience

    def propose(self, request: Request, hear: Hear = unheard) -> Reply:
        stem = f"{self.position + 1:04d}-{request.hash[:12]}"
        self._post(stem, request)
        reply = self._await(stem, request)
        self.position += 1
        return with_usage(reply, request, self.count, self.name)

    def weigh(self, request: Request) -> int:
        return 0

    def _post(self, stem: str, request: Request) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write_once(f"{stem}.request.json", json.dumps(encode(request), ensure_ascii=False, indent=1))
            self._write_once(f"{stem}.request.md", letter(request, stem))
        except OSError as error:
            raise BadInput(f"the mailbox {self.folder} can't be written: {error}", next="pass --model mailbox:DIR") from None

    def _write_once(self, name: str, text: str) -> None:
        """A restart leaves the file alone: whoever watches the folder for new requests must not see this one twice."""
        if not (self.folder / name).exists():
            write_whole(self.folder / name, text)

    def _await(self, stem: str, request: Request) -> Reply:
        began, pause = time.monotonic(), FIRST_PAUSE
        while True:
            reply = self._collect(stem, request)
            if reply is not None:
                return reply
            waited = time.monotonic() - began
            if self.patience.reply and waited >= self.patience.reply:
                raise TryAgain(f"no reply to {stem} in {self.folder} within {self.patience.reply:g} s; resume to wait on")
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)

    def _collect(self, stem: str, request: Request) -> Reply | None:
        """The reply, if it is there and can be used; what can't is put aside with the reason."""
        path = self.folder / f"{stem}.reply.json"
        try:
            plain = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            if _age(path) >= self.patience.writer:
                self._reject(stem, f"the file is not JSON: {error}")
            return None
        try:
            reply = reply_from(plain)
            check_tools(reply, request.tools)
        except ValueError as error:
            self._reject(stem, str(error))
            return None
        return reply

    def _reject(self, stem: str, problem: str) -> None:
        advice = f"{problem}\n\nNothing was done with this reply. Write {stem}.reply.json again, in the form\n{EXAMPLE}\n"
        write_whole(self.folder / f"{stem}.problem.txt", advice)
        with suppress(FileNotFoundError):
            os.replace(self.folder / f"{stem}.reply.json", self.folder / f"{stem}.rejected.json")


def _age(path: Path) -> float:
    """Seconds since the last write. A time in the future (another machine's clock) counts as long ago."""
    try:
        age = time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
    return age if age >= 0 else float("inf")


def write_whole(path: Path, text: str) -> None:
    """Nobody ever sees a part of the file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
