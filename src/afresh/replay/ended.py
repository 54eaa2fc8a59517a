"""How a recorded action ended, as far as its output says so in words that its agent always uses. Nothing is guessed."""

import re

from afresh.domain.passage import ENDED_OK

EXIT_CODE_PATTERN = re.compile(
    r"\A\s*<returncode>(-?\d+)</returncode>|\A\s*Exit code:? (\d+)$|^Process exited with code (\d+)$"
    r"|^\[The command completed with exit code (-?\d+)\.?\]",
    re.MULTILINE,
)
OUTCOME_PATTERNS = (
    ("failed", re.compile(r"\A\s*(?:<tool_use_error>|EXECUTION RESULT of \[\w+\]:\s*ERROR:)")),
    ("refused", re.compile(r"\A\s*The user doesn't want to (?:proceed with this tool use|take this action)")),
    ("stopped", re.compile(r"\A\s*\[Request interrupted by user")),
    (ENDED_OK, re.compile(r"\A\s*(?:The file \S+ has been (?:updated|edited)|File created successfully)")),
)
MAX_SEARCHED_CHARACTERS = 2_000
"""Characters at either end where agents say how it went."""


def detect_outcome(observation: str) -> str:
    """Empty when it does not say."""
    short = len(observation) <= 2 * MAX_SEARCHED_CHARACTERS
    text = observation if short else f"{observation[:MAX_SEARCHED_CHARACTERS]}\n{observation[-MAX_SEARCHED_CHARACTERS:]}"
    if match := EXIT_CODE_PATTERN.search(text):
        code = match[match.lastindex or 0]
        return ENDED_OK if code == "0" else f"exit {code}"
    return next((word for word, sign in OUTCOME_PATTERNS if sign.search(text)), "")
