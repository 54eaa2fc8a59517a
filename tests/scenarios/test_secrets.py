"""A key in a goal, a file or an output is in no prompt, no journal and no page; the file keeps it."""

import pytest
from leak import kept
from person import COMPLETE, MEND, Person, Step

from afresh.app import compose
from afresh.context.build_prompt import HIDDEN_SECRET_HINT

PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + "MIIEowIBAAKCAQEA7v3Zk0Yx\n" * 3 + "-----END RSA PRIVATE " + "KEY-----"
IN_FILE = {
    "AWS_KEY": "AKIA" + "IOSFODNN7EXAMPLE",
    "ANTHROPIC_KEY": "sk-" + "ant-api03-Zx81kfLq0Zx81kfLq0Zx81kfLq0-Zx81kfLq0AA",
    "OPENAI_KEY": "sk-" + "T3BlbkFJ9aZ0bY1cX2dW3eV4fU5gT6hS7iR8",
    "PEM": PEM,
}
IN_GOAL = "ghp_" + "9aZ0bY1cX2dW3eV4fU5gT6hS7iR8jQ9kP0lO"
PRINTED = "ghs_" + "0Op9Qj8Ri7Sh6Tg5Uf4Ve3Wd2Xc1Yb0Za9"
CANARIES = [*IN_FILE.values(), IN_GOAL, PRINTED, "MIIEowIBAAKCAQEA7v3Zk0Yx"]
KEY_LINE = "OPENAI_KEY = '''[redacted]'''"
SETTINGS = "".join(f"{name} = '''{value}'''\n" for name, value in IN_FILE.items()) + "LIMIT = 1\n"


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


class Listener:
    """A model that writes down what it is sent."""

    def __init__(self, inner, heard: list[str]) -> None:
        self.inner, self.heard = inner, heard

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def propose(self, request, hear):
        self.heard.append(request.text)
        return self.inner.propose(request, hear)


def steps() -> list[list[Step]]:
    split = f"printf 'ghs_'; echo {PRINTED[4:]}"
    return [
        [("read", {"path": "settings.py"}), ("run", {"command": "cat settings.py"}), ("search", {"text": "AKIA"})],
        [("run", {"command": split}), ("note", {"subject": "key", "text": f"the key is {PRINTED}"})],
        [
            ("run", {"command": "echo 'OPENAI_KEY = [redacted]' > settings.py"}),
            ("edit", {"path": "settings.py", "old": KEY_LINE, "new": f"{KEY_LINE}  # kept"}),
        ],
        [("edit", {"path": "settings.py", "old": "LIMIT = 1", "new": "LIMIT = 2"}), MEND],
        [COMPLETE],
    ]


@pytest.mark.promise("Your code goes to the model you choose")
def test_no_secret_reaches_a_prompt_the_journal_or_a_page(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.write("settings.py", SETTINGS)
    person.commit("settings")
    heard, make = list[str](), compose.make_model
    monkeypatch.setattr(compose, "make_model", lambda *given: Listener(make(*given), heard))
    told = person.runs(person.script(*steps()), goal=f"double is wrong, and settings.py; the token is {IN_GOAL}")
    assert told.code == 0, told.err
    assert len(heard) == 5 and "[redacted]" in heard[1] and "settings.py" in heard[1]
    prompts = "\n".join(heard)
    stored = [(name, text) for name, text in kept(person.state) if not is_tree(name)]
    assert any(name == "afresh.db" for name, _ in stored) and any("[redacted]" in text for _, text in stored)
    for canary in CANARIES:
        assert canary not in prompts and canary.replace("\n", "\\n") not in prompts
        assert not [name for name, text in stored if canary in text or canary.replace("\n", "\\n") in text]
    assert "hides a secret, and a command does not know it" in heard[3], "why the command was not run"
    assert HIDDEN_SECRET_HINT in heard[1]
    assert person.types("context", "verify").code == 0, "every prompt is rebuilt to the byte"
    assert person.types("apply", person.types("status", "--json").json["tasks"][0]["task"]).code == 0
    kept_key = SETTINGS.replace("LIMIT = 1", "LIMIT = 2").replace(
        f"{IN_FILE['OPENAI_KEY']}'''", f"{IN_FILE['OPENAI_KEY']}'''  # kept"
    )
    assert (person.repo / "settings.py").read_text() == kept_key, "the file keeps its keys, the one that was edited around too"


def is_tree(name: str) -> bool:
    """The tree and snapshots of the repository and the index of its code have what the repository has; neither leaves the
    machine."""
    return name.startswith(("shadow/", "code.db"))
