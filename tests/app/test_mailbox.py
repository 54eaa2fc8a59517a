from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from afresh.adapters.models.mailbox import Mailbox, Patience
from afresh.app.mailbox import await_one, pick, reply_to
from afresh.errors import BadInput
from afresh.testing.models import sample_request


def test_a_reply_that_is_refused_as_too_long_asks_for_more_room_with_the_one_that_is_taken(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        reply = pool.submit(Mailbox(tmp_path, patience=Patience(reply=20.0)).propose, sample_request())
        await_one(tmp_path, 20)
        with pytest.raises(BadInput, match="too long"):
            reply_to(tmp_path, pick(tmp_path), '{"thought": "' + "too much " * 2_000 + '"}')
        reply_to(tmp_path, pick(tmp_path), '{"thought": "short"}')
        assert reply.result().thought == "short" and reply.result().cramped
