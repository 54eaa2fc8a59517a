"""Runs one peer in a process (and environment) of its own, told by lines of JSON what has changed in the tree and what is asked.

python contestant.py MODULE FOLDER
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
from pathlib import Path
from typing import Any


class Runner:
    def __init__(self, module: str, folder: Path) -> None:
        self.kind = importlib.import_module(f"localizing.{module}").Contestant
        self.folder, self.contestant = folder, None

    def version(self) -> str:
        return importlib.metadata.version(self.kind.package) if self.kind.package != "afresh" else ""

    def start(self, folder: str) -> str:
        """Begin with another repository, whose code lies in this folder."""
        self.contestant = self.kind(Path(folder))
        return ""

    def rank(self, changed: list[str], gone: list[str], text: str, past: list[Any], most: int) -> dict[str, Any]:
        """The best files, and the seconds of the processor that it took to find them. `past` has earlier commits: message, paths
        and time; only one contestant asks for them."""
        assert self.contestant
        began = time.process_time()
        self.contestant.moved(changed, gone)
        found = (self.contestant.rank(text, past) if self.kind.package == "afresh" else self.contestant.rank(text))[:most]
        return {"found": found, "seconds": time.process_time() - began}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a peer prints is not an answer
    runner = Runner(sys.argv[1], Path(sys.argv[2]))
    for line in sys.stdin:
        order: list[Any] = json.loads(line)
        print(json.dumps(getattr(runner, order[0])(*order[1:])), file=answers, flush=True)


if __name__ == "__main__":
    main()
