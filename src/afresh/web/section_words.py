"""What the sections of a prompt are, in a few words for people; docs/task-types.md lists them."""

WORDS_BY_SECTION = {
    "tools": "what the model can call, and how",
    "system": "how to work with afresh",
    "instructions": "rules of the project, such as AGENT.md",
    "fingerprint": "the project in short: language, layout, checks",
    "task": "the goal, and what you said",
    "failed": "what was tried and taken back",
    "changes": "files changed so far",
    "verification": "the checks, and what they say now",
    "plan": "what is done and what comes next",
    "last": "the last step: thought, actions and their output",
    "failing": "source of the tests that fail",
    "knowledge": "lessons of earlier tasks that fit",
    "known": "notes that the agent made in this task",
    "memory": "facts of earlier tasks that matter now",
    "files": "lines of files that were read or changed, as they are now",
    "work": "outputs of earlier steps, shortened",
    "summary": "a summary of steps long past",
    "outline": "a map of the source tree",
    "archive": "long outputs that can be read again",
    "cited": "lines that the report cites",
    "target": "source of what the work is about",
    "similar": "existing code that is most alike",
    "callers": "who uses the code in question",
    "tests": "tests that use the code in question",
    "coverage": "coverage of the changes",
    "diff": "the changes under review",
    "history": "the latest commits of the files",
    "suggestions": "functions that are too complex, and known remedies",
    "decisions": "what was decided, and why",
    "footer": "what to do now, at the end of every prompt",
    "(the reply)": "what the model answered",
    "(not told apart)": "calls without sections",
}


def describe_section(name: str) -> str:
    """Return what a section is; empty for one that a template of the project adds."""
    return WORDS_BY_SECTION.get(name.partition(" (")[0] or name, "")
