"""What a step costs while a migration grows: tokens of the prompt, CPU of afresh's own process, and of git and commands.

A hundred commands rename a function in 50 of 5,000 files each; the check passes at the end. `--at-once`: one command renames all,
and ten small edits follow. The model is a script; sandbox, store and git are real.

  .venv/bin/python bench/migration.py [--files 5000] [--at-once]
"""

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from afresh import loop
from afresh.app.project import open_project
from afresh.cli import main as cli
from afresh.core.event import CallRequested

GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")
COMMANDS, EDITS = 100, 10
CHECK = "! grep -rq old_ src"


def list_replies(paths: list[str], at_once: bool) -> list[tuple[str, dict[str, str]]]:
    size = len(paths) if at_once else len(paths) // COMMANDS
    part = "find src -name '*.py' | sort | sed -n '{},{}p' | xargs sed -i s/old_/new_/"
    replies = [("run", {"command": part.format(one + 1, one + size)}) for one in range(0, len(paths), size)]
    edited = range(0, len(paths), len(paths) // EDITS) if at_once else ()
    replies += [("edit", {"path": paths[one], "old": f"value + {one}\n", "new": f"{one} + value\n"}) for one in edited]
    return [*replies, ("complete", {"summary": "Rename old_N to new_N\n\nAs ordered."})]


def read_cpu(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--at-once", action="store_true")
    wanted = parser.parse_args()
    steps, ask = list[tuple[float, float]](), loop.ask_model

    def note_then_ask(state, runtime):
        steps.append((read_cpu(resource.RUSAGE_SELF), read_cpu(resource.RUSAGE_CHILDREN)))
        return ask(state, runtime)

    loop.ask_model = note_then_ask
    with TemporaryDirectory(prefix="afresh-migration-") as folder:
        repo, script = Path(folder, "repo"), Path(folder, "replies.jsonl")
        os.environ |= {"XDG_DATA_HOME": f"{folder}/data", "XDG_CONFIG_HOME": f"{folder}/config"}
        paths = [f"src/part_{number // 100:02}/module_{number:04}.py" for number in range(wanted.files)]
        for number, path in enumerate(paths):
            (repo / path).parent.mkdir(parents=True, exist_ok=True)
            (repo / path).write_text(f"def old_{number}(value):\n    return value + {number}\n")
        for command in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "base")):
            subprocess.run((*GIT, *command), cwd=repo, check=True)
        replies = list_replies(paths, wanted.at_once)
        script.write_text("".join(json.dumps({"thought": "", "actions": [{"tool": t, "args": a}]}) + "\n" for t, a in replies))
        os.chdir(repo)
        order = ["run", "Rename old_N to new_N everywhere in src", "--type", "refactor", "--check", CHECK, "--steps", "200"]
        began = time.perf_counter()
        with redirect_stdout(io.StringIO()):
            failed = cli.run_command_line([*order, "--model", f"scripted:{script}"])
        if failed:
            sys.exit("the task was not verified")
        print(f"verified in {time.perf_counter() - began:,.0f} s")
        [task] = [path.name for path in (repo / ".afresh/state/checkpoints").iterdir()]
        journal = open_project(repo).store.journal(task)
        sent = [one.event.audit.tokens for one in journal if isinstance(one.event, CallRequested)]
        state = sum(path.stat().st_size for path in (repo / ".afresh/state").rglob("*") if path.is_file())
    print("| step | tokens | CPU of afresh (s) | of git and commands (s) |\n|---:|---:|---:|---:|")
    for step in sorted({1, 2, 10, 50, 100, len(sent) - 1} & {*range(len(sent))}):
        own, others = (after - before for before, after in zip(steps[step - 1], steps[step], strict=True))
        print(f"| {step} | {sent[step - 1]:,} | {own:.2f} | {others:.2f} |")
    print(f"largest prompt {max(sent):,} tokens, state {state / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
