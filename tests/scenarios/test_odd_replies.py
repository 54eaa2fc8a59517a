"""A recorded reply is acted on again after every crash, so none may cause one: whatever it holds, the task goes on."""

from typing import Any

import pytest
from person import COMPLETE, MEND, Person

LOOK = ("read", {"path": "calc.py"})
PATHS = ["calc.py/x", "a" * 300, "a/" * 2000 + "b", "", ".", "/", "../x", "/etc/passwd", ".git/config", "a\0b"]
ODD: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "paths to write": [("edit", {"path": path, "new": "x = 1\n"}) for path in PATHS],
    "paths to read": [("read", {"path": path}) for path in PATHS],
    "a name of two lines": [("edit", {"path": "two\nlines.py", "new": "x = 1\n"})],
    "arguments": [
        ("read", {"path": "calc.py", "start": 10**30, "lines": -(10**30)}), ("read", {"path": 7}), ("read", {}), ("fly", {}),
        ("plan", {"items": [1, {"a": 2}]}), ("ask", {"question": "?", "options": [1, None]}), ("read", {"path": "@%"}),
        ("search", {"text": "\n"}), ("search", {"text": "x", "path": "[!"}), ("search", {"text": "x", "path": "@0000000"}),
        ("edit", {"path": "n.py"}),
        ("edit", {"path": "calc.py", "old": "", "new": "x"}), ("edit", {"path": "calc.py", "old": "x", "new": "y" * 2_100_000}),
    ],
    "a command with a NUL": [("run", {"command": "echo \0 x"})],
    "a command too long to start": [("run", {"command": "echo " + "a" * 140_000})],
    "a command that shuts the folder": [("run", {"command": "chmod 000 ."})],
    "output without end or sense": [("run", {"command": "head -c 3000000 /dev/urandom; printf '\\0\\xff\\033[31m'"})],
}  # fmt: skip


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


def test_no_reply_can_stop_the_task_for_good(person: Person) -> None:
    before = person.belongings()
    told = person.runs(person.script(*([LOOK, *odd] for odd in ODD.values()), [LOOK], [MEND], [COMPLETE]), "--json")
    assert told.code == 0 and told.json["status"] == "done", told.err
    assert [change["path"] for change in told.json["changes"]] == ["calc.py", "two\nlines.py"]
    assert person.types("context", "verify").code == person.types("show").code == person.types("status").code == 0
    assert person.belongings() == before
