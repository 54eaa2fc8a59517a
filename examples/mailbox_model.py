"""Answers as the model, through a folder: for your own program or another agent. Start it, then a task:

python mailbox_model.py ../box &
afresh run "double is wrong" --model mailbox:../box
"""

import json
import sys
import time
from pathlib import Path
from typing import Any


def think(request: dict[str, Any]) -> dict[str, Any]:
    """Your part. This one has no idea, and asks a person. `request` has system, message, tools and reserve."""
    if request.get("kind") == "review":  # do the user's words call for this change of a test?
        return {"how": "neither", "asked": False, "quote": ""}
    tools = ", ".join(tool["name"] for tool in request["tools"])
    return {"thought": f"I could use {tools}.", "actions": [{"tool": "ask", "args": {"question": "May I change calc.py?"}}]}


def main(box: Path) -> None:
    while True:
        for asked in sorted(box.glob("*.request.json")):
            answer = asked.with_name(asked.name.replace(".request.", ".reply."))
            if not answer.exists():
                part = answer.with_suffix(".part")
                part.write_text(json.dumps(think(json.loads(asked.read_text("utf-8")))), "utf-8")
                part.rename(answer)  # so that nobody reads half an answer
        time.sleep(0.2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
