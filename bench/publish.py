"""Writes the results of a bench, with the commit that they were measured on."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def write_results(name: str, result: dict[str, Any]) -> None:
    """To `results/NAME.json`. A commit that ends in + had changes that are in no commit."""
    done = subprocess.run(["git", "describe", "--always", "--dirty=+"], cwd=RESULTS, capture_output=True, text=True)
    about = {"commit": done.stdout.strip(), "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}"}
    (RESULTS / f"{name}.json").write_text(json.dumps(about | result, indent=1) + "\n", encoding="utf-8")
