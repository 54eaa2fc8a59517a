"""A model behind a folder: each request is a file, and whoever writes the reply's file is the model.

The name of a request is made of the number of the call, the task and the request's hash (`box` lists the files), so a restarted
process finds what it had asked and what was answered meanwhile, and nothing is asked twice.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.adapters.models.box import (
    PAGE,
    PROBLEM,
    REJECTED,
    REPLY,
    REQUEST,
    judged,
    make_folder,
    parsed,
    read_whole,
    stem_of,
    unwritable,
    waited_for,
    write_whole,
)
from afresh.adapters.models.letter import letter
from afresh.adapters.models.replies import EXAMPLE, TOO_LONG, Count, estimate, with_usage
from afresh.domain.action import Reply
from afresh.domain.codec import encode
from afresh.domain.window import Request
from afresh.errors import TryAgain
from afresh.ports import Hear, unheard

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0


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
        self,
        folder: Path,
        start: int = 0,
        window: int = 200_000,
        count: Count = estimate,
        patience: Patience = PATIENCE,
        task: str = "",
    ) -> None:
        self.folder, self.position, self.window, self.count, self.patience = folder, start, window, count, patience
        self.task = task

    def propose(self, request: Request, hear: Hear = unheard) -> Reply:
        stem = stem_of(self.task, self.position + 1, request)
        make_folder(self.folder)
        try:
            self._write_once(f"{stem}{REQUEST}", json.dumps(encode(request), ensure_ascii=False, indent=1))
            self._write_once(f"{stem}{PAGE}", letter(request, stem))
            with waited_for(self.folder / f"{stem}{REQUEST}"):
                reply = self._await(stem, request)
        except OSError as error:
            raise unwritable(self.folder, error) from None
        self.position += 1
        return with_usage(replace(reply, cramped=self._was_too_long(stem)), request, self.count, self.name)

    def weigh(self, request: Request) -> int:
        return 0

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
                raise TryAgain(
                    f"nobody has answered {stem} in {self.folder} within {self.patience.reply:g} seconds. The request stays "
                    "open: a reply that is written later is taken when the task is resumed"
                )
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)

    def _collect(self, stem: str, request: Request) -> Reply | None:
        """The reply, if it is there and can be used; what can't is put aside with the reason."""
        path = self.folder / f"{stem}{REPLY}"
        try:
            plain = parsed(read_whole(path))
        except FileNotFoundError:
            return None
        except ValueError as error:
            if _age(path) >= self.patience.writer:
                self._reject(stem, f"the file is not JSON: {error}")
            return None
        try:
            return judged(plain, request, self.count)
        except ValueError as error:
            self._reject(stem, str(error))
            return None

    def _was_too_long(self, stem: str) -> bool:
        """By what was refused before it, here or by `afresh mailbox reply`: also after a restart."""
        try:
            return read_whole(self.folder / f"{stem}{PROBLEM}").startswith(TOO_LONG)
        except (OSError, ValueError):
            return False

    def _reject(self, stem: str, problem: str) -> None:
        advice = f"{problem}\n\nNothing was done with this reply. Write {stem}{REPLY} again, in the form\n{EXAMPLE}\n"
        write_whole(self.folder / f"{stem}{PROBLEM}", advice)
        with suppress(FileNotFoundError):
            os.replace(self.folder / f"{stem}{REPLY}", self.folder / f"{stem}{REJECTED}")


def _age(path: Path) -> float:
    """Seconds since the last write. A time in the future (another machine's clock) counts as long ago."""
    try:
        age = time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0
    return age if age >= 0 else float("inf")
