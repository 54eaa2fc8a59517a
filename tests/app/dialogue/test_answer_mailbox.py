from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from afresh.app.dialogue.answer_mailbox import await_request, pick_request, post_reply
from afresh.errors import BadInput
from afresh.models.mailbox import MailboxModel, MailboxTimeouts
from support.model_contract import make_sample_request


def test_a_reply_that_is_refused_as_too_long_asks_for_more_room_with_the_one_that_is_taken(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        reply = pool.submit(MailboxModel(tmp_path, patience=MailboxTimeouts(reply=20.0)).propose, make_sample_request())
        await_request(tmp_path, 20)
        with pytest.raises(BadInput, match="too long"):
            post_reply(tmp_path, pick_request(tmp_path), '{"thought": "' + "too much " * 2_000 + '"}')
        post_reply(tmp_path, pick_request(tmp_path), '{"thought": "short"}')
        assert reply.result().thought == "short" and reply.result().cramped
