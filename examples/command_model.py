"""A model adapter of your own: it gives the request to a program as JSON and reads the reply from it.

For contributors: copy it to src/afresh/models/providers/, and choose it in models/choose_model.py. It is done when it passes
`ModelContract`, as tests/scenarios/test_examples.py shows: a subclass with `make`, which pytest runs.
"""

import json
import subprocess
from dataclasses import asdict, dataclass

from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.errors import TryAgain
from afresh.models.reply_checks import add_missing_usage, estimate_tokens, reply_from_json
from afresh.ports.model import ReplyListener, ignore_piece


@dataclass(frozen=True)
class CommandModel:
    command: tuple[str, ...]
    name: str = "command"
    window: int = 32_768

    def propose(self, request: Request, hear: ReplyListener = ignore_piece) -> Reply:
        fields = {"system": request.system, "message": request.message, "tools": [asdict(tool) for tool in request.tools]}
        done = subprocess.run(self.command, input=json.dumps(fields), capture_output=True, text=True, check=False)
        try:
            reply = reply_from_json(json.loads(done.stdout))
        except ValueError as fault:
            raise TryAgain(f"{self.command[0]} gave no reply: {fault}", next="look at its output") from fault
        hear(reply.thought)
        return add_missing_usage(reply, request, estimate_tokens, self.name)

    def weigh(self, request: Request) -> int:
        return 0  # it can't count tokens: afresh estimates them
