"""From Enter to the first call, in a project whose check takes ten seconds: `python bench/first_token.py`.

A local server answers in words, so a `chat` ends with that call.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from afresh.core.reply import Reply
from ceilings import check_books
from support.model_server import ModelServer
from support.wire_formats import ScriptedTurn

ROUNDS = 3
ORDERS = {
    "chat": ("chat",),
    "run": ("run", "Where is double?"),
    "run --type fix_bug": ("run", "Where is double?", "-t", "fix_bug"),
}
FILES = {
    "calc.py": "def double(x):\n    return x + x\n",
    "test_calc.py": "import time, calc\n\ndef test_double():\n    time.sleep(5)\n    assert calc.double(2) == 4\n",
}
"""The check runs twice before the first change."""
MODEL = '[models.local]\nprovider = "vllm"\nmodel = "loopback"\nretries = 0\nbase_url = "{url}"\n'


class TimedServer(ModelServer):
    """Notes when it is called."""

    first = 0.0

    def _played(self, received):
        self.first = self.first or time.monotonic()
        return super()._played(received)


def measure(order: tuple[str, ...], source: str) -> float:
    with tempfile.TemporaryDirectory() as made, TimedServer([ScriptedTurn(Reply("It is in calc.py."))]) as server:
        folder = Path(made)
        (repo := folder / "repo").mkdir()
        for name, text in FILES.items():
            (repo / name).write_text(text)
        identity = ("-c", "user.name=b", "-c", "user.email=b@localhost")
        for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "base")):
            subprocess.run(["git", *words], cwd=repo, check=True)
        (config := folder / "config/afresh/config.toml").parent.mkdir(parents=True)
        config.write_text(MODEL.format(url=server.openai_url))
        home = {"HOME": made, "XDG_CONFIG_HOME": f"{made}/config", "XDG_DATA_HOME": f"{made}/data", "PYTHONPATH": source}
        command = [sys.executable, "-m", "afresh.cli.main", *order, "-m", "local", "-c", f"{sys.executable} -m pytest -q"]
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=repo, env=os.environ | home, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert process.stdin
        process.stdin.write(b"Where is double?\n")
        process.stdin.close()
        while not server.first and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.wait()
        check_books(Path(made))
        return server.first - began


def main() -> None:
    source = str(Path(__file__).parents[1] / "src")
    for name, order in ORDERS.items():
        seconds = sorted(measure(order, source) for _ in range(ROUNDS))
        print(json.dumps({"order": name, "median": round(seconds[ROUNDS // 2], 2), "least": round(seconds[0], 2)}), flush=True)


if __name__ == "__main__":
    main()
