"""Files that act without being asked: a tool runs or obeys them when the repository is opened, entered, committed or pushed. A
task changes them only if a person says so."""

import re
from collections.abc import Iterable, Sequence

from afresh.core.leave import FROM_PERSON
from afresh.core.state import State
from afresh.core.states.dialogue_state import is_agreement

_OWN_FOLDER = ".afresh/"
_WHO_ACTS = {
    "afresh obeys it": f"/{_OWN_FOLDER} AGENT.md",
    "agents obey it": "AGENTS.md AGENTS.override.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md WARP.md .cursorrules"
    " .windsurfrules .clinerules .clinerules/ .roorules .roo/ .goosehints .rules .junie/ .amazonq/ .kiro/ .continue/ .agents/"
    " .cursor/ .windsurf/ .augment/ /.github/copilot-instructions.md /.github/instructions/ /.github/prompts/ /.github/agents/",
    "agents run what it names": ".claude/ .gemini/ .codex/ .opencode/ opencode.json opencode.jsonc .mcp.json .aider.conf.yml",
    "an editor runs it when the folder is opened": ".vscode/ .idea/ .zed/ .fleet/ .devcontainer/ .devcontainer.json"
    " *.code-workspace .exrc .nvimrc .nvim.lua .vimrc .lvimrc .dir-locals.el /.gitpod.yml",
    "a shell runs it when it enters the folder": ".envrc mise.toml .mise.toml mise.local.toml .mise/",
    "git runs it": "/.husky/ /.githooks/ /.git-hooks/ /.lefthook/ /lefthook.y*ml /.lefthook.y*ml /.pre-commit-config.yaml"
    " /.overcommit.yml /.lintstagedrc* /lint-staged.config.*",
    "a server runs it after a push": "/.github/workflows/ /.github/actions/ /.github/dependabot.yml /.gitlab-ci.yml /.gitlab/"
    " /.circleci/ /.forgejo/workflows/ /.gitea/workflows/ /.travis.yml /appveyor.yml /azure-pipelines.yml /.azure-pipelines/"
    " /Jenkinsfile /.buildkite/ /bitbucket-pipelines.yml /.woodpecker/ /.woodpecker.y*ml /.drone.yml /.cirrus.yml"
    " /.readthedocs.y*ml /netlify.toml /vercel.json /renovate.json",
}
"""Who acts, and on what: a folder ends in a slash; what begins with one counts at the top of the repository only."""


def _to_expression(pattern: str) -> str:
    """Matches the part of a path that the pattern is about."""
    start = "" if pattern.startswith("/") else "(?:.*?/)??"
    return start + re.escape(pattern.strip("/")).replace(r"\*", "[^/]*") + ("(?=/)" if pattern.endswith("/") else r"\Z")


_EXPRESSIONS = {
    who: re.compile("|".join(map(_to_expression, patterns.split())), re.DOTALL) for who, patterns in _WHO_ACTS.items()
}


def list_persons_words(state: State) -> tuple[str, ...]:
    """What a person has asked for, or agreed to."""
    agreed = (decision.subject for decision in state.memory.decisions if decision.answer and is_agreement(decision.text))
    return tuple(text for text in (state.persons_goal, *state.dialogue.words, *agreed) if text)


def find_who_acts(path: str, obeyed: Sequence[str] = ()) -> str:
    """Who runs or obeys the file without being asked; empty for any other. `obeyed`: what the user's git names in this tree."""
    return _match(path, obeyed)[0]


def _match(path: str, obeyed: Sequence[str]) -> tuple[str, str]:
    """Who acts, and the folder or file that it acts on."""
    plain = path.removeprefix("./")
    hooks = [re.compile(_to_expression(f"/{one}"), re.DOTALL) for one in obeyed]
    for who, expression in (*(("git runs it", hook) for hook in hooks), *_EXPRESSIONS.items()):
        if match := expression.match(plain):
            return who, match[0]
    return "", ""


def is_file_asked_for(path: str, words: Iterable[str]) -> bool:
    """Whether a person names the file, or a folder of such files that it is in."""
    plain = path.removeprefix("./")
    name, parts, place = plain.rpartition("/")[2], plain.split("/"), _match(plain, ())[1]
    first = max(place.count("/") + 1, 1 + plain.startswith(_OWN_FOLDER)) if place else len(parts)
    named = [plain, *("/".join(parts[:depth]) for depth in range(first, len(parts)))]
    known_by_name = not plain.startswith(_OWN_FOLDER) or name == "AGENT.md"
    return any(any(one in word for one in named) or (name in word and (known_by_name or ".afresh" in word)) for word in words)


def list_unasked_steering_files(paths: Iterable[str], state: State) -> tuple[str, ...]:
    """Those of the paths that act unasked, and that no person has named, agreed to or allowed."""
    words = list_persons_words(state)
    allowed = [entry.path for entry in state.verification.leave if entry.by == FROM_PERSON and entry.path and not entry.name]
    return tuple(
        path
        for path in paths
        if find_who_acts(path, state.workspace.obeyed)
        and not is_file_asked_for(path, words)
        and not any(path == place or (place.endswith("/") and path.startswith(place)) for place in allowed)
    )


def describe_steering_files(paths: Iterable[str], obeyed: Sequence[str]) -> str:
    """Those of the paths that act unasked, each with who acts; empty if there is none."""
    texts = [f"{path} ({who})" for path in paths if (who := find_who_acts(path, obeyed))]
    more = f" and {len(texts) - 5} more" if len(texts) > 5 else ""
    return f"runs or is obeyed unasked: {', '.join(texts[:5])}{more}" if texts else ""
