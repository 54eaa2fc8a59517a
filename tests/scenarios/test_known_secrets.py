"""A key of the environment has no shape that anybody could know. Wherever it is written, and in whatever common form, nothing
that afresh keeps, shows or sends has it; the user's files do."""

from base64 import b64encode

import pytest
from leak import kept
from mcp import Client
from mcp_types import Implementation
from own_loop import run_apart
from person import MEND, Person, Step

from afresh.app import compose
from afresh.core.known_secrets import forget_secrets
from afresh.mcp_server.serve import find_served_project, make_server

KEY = "zQ8vR2mK7pL4" + "xW9tB6nJ3"
OTHER = "pW4kT8yH2sD6" + "gV1cM5bX9"
"""In the goal, whose words become names."""
ENCODED = b64encode(f"deploy:{KEY}".encode()).decode()
FORMS = (KEY, KEY.lower(), OTHER, OTHER.lower(), ENCODED, KEY.encode().hex())
SETTINGS = f"TOKEN = {KEY!r}\nHEADER = 'Basic {ENCODED}'\nLIMIT = 1\n"


@pytest.fixture
def holder(person: Person, monkeypatch: pytest.MonkeyPatch, requires_sandbox):
    requires_sandbox()
    monkeypatch.setenv("DEPLOY_TOKEN", KEY)
    monkeypatch.setenv("BUILD_PASSWORD", OTHER)
    person.write("settings.py", SETTINGS)
    person.commit(f"settings for {KEY}")
    yield person
    forget_secrets()


def steps() -> list[list[Step]]:
    return [
        [("read", {"path": "settings.py"}), ("run", {"command": "cat settings.py; git log -1"}), ("search", {"text": "TOKEN"})],
        [("run", {"command": f"printf {KEY[:9]}; echo {KEY[9:]}; printf %s {KEY[:9]}{KEY[9:]} | od -An -tx1 | tr -d ' \\n'"})],
        [("note", {"subject": f"key {KEY}", "text": f"the key is {KEY}", "why": ENCODED})],
        [("edit", {"path": "settings.py", "old": "LIMIT = 1", "new": "LIMIT = 2"}), MEND],
        [("complete", {"summary": f"Multiply, for {KEY}\n\nThe header is {ENCODED}."})],
    ]


def run_task(person: Person, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The task, and all that the model was sent."""
    heard, make = list[str](), compose.make_model

    class Listener:
        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name: str):
            return getattr(self.inner, name)

        def propose(self, request, hear):
            heard.append(request.text)
            return self.inner.propose(request, hear)

    with monkeypatch.context() as patch:
        patch.setattr(compose, "make_model", lambda *given: Listener(make(*given)))
        told = person.runs(person.script(*steps()), "--json", goal=f"double is wrong; {OTHER} opens settings.py")
    assert told.code == 0, told.err
    return told.json["task"], "\n".join(heard)


def read_state(person: Person) -> dict[str, str]:
    """What is in the state folder, without the trees of the repository and the index of its code."""
    told = dict[str, str]()
    for name, text in kept(person.state):
        if not name.startswith(("shadow/", "code.db")):
            told[name] = told.get(name, "") + text
    return told


def list_texts(person: Person, task: str) -> dict[str, str]:
    """All that is kept of the work and can be shown or sent, by where it is."""
    told = read_state(person)
    told |= {
        f"knowledge {path.name}": f"{path.name} {path.read_text()}" for path in person.repo.glob(".afresh/knowledge/**/*.md")
    }
    told["branches"] = person.git("for-each-ref")
    told["commit"] = person.git("log", "-1", "--format=%B", f"afresh/{task}")
    told |= {
        f"afresh {' '.join(args)}": person.types(*args).out for args in (("show", task, "--json"), ("pr", task), ("status",))
    }
    folder = person.folder / "exported"
    assert person.types("export", str(folder), "--task", task).code == 0
    told |= {f"export {path.name}": path.read_text("utf-8", "replace") for path in folder.rglob("*.json*") if path.is_file()}
    return told


def find_leaks(texts: dict[str, str]) -> list[str]:
    return [f"{form} in {place}" for place, text in texts.items() for form in FORMS if form in text]


def test_a_key_of_the_environment_is_kept_shown_and_sent_nowhere(holder: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    task, prompts = run_task(holder, monkeypatch)
    texts = list_texts(holder, task) | {"prompts": prompts}
    assert "[redacted]" in texts["afresh.db"] and "[redacted]" in prompts and "[redacted]" in texts["commit"]
    assert not find_leaks(texts)
    monkeypatch.setenv("ODD_KEY", "multiply4x2plus1")
    monkeypatch.delenv("DEPLOY_TOKEN")
    assert holder.types("context", "verify", task).code == 0, "a prompt is rebuilt to the byte under another environment, too"
    assert holder.types("apply", task).code == 0
    assert (holder.repo / "settings.py").read_text() == SETTINGS.replace("LIMIT = 1", "LIMIT = 2"), "the file keeps its key"


def test_what_people_and_other_agents_say_is_kept_without_it(holder: Person) -> None:
    holder.types("init")
    holder.types("memory", "add", f"deploy with {KEY}")
    holder.types("schedule", "add", f"rotate {KEY}", "--every", "1w")

    async def talk() -> str:
        server = make_server(find_served_project(holder.repo))
        async with Client(server, client_info=Implementation(name=f"codex {KEY}", version="1")) as client:
            await client.call_tool("remember", {"text": f"the key is {ENCODED}", "subject": KEY})
            return str(await client.call_tool("recall", {"query": "key"}))

    said = run_apart(talk())
    assert "[redacted]" in said and not find_leaks(
        {**read_state(holder), "said": said, "list": holder.types("schedule", "list").out}
    )
