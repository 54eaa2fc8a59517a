"""Serves one editor over standard input and output until it closes them."""

import asyncio
import io
import os
import sys
from typing import Any, cast

from acp import run_agent
from acp.core import DEFAULT_STDIO_BUFFER_LIMIT_BYTES
from acp.stdio import stdio_streams

from afresh.acp.agent import EditorAgent
from afresh.acp.session import EditorOptions


def serve_editor(options: EditorOptions) -> None:
    asyncio.run(_serve(EditorAgent(options)))


async def _serve(agent: EditorAgent) -> None:
    _keep_standard_streams()
    reader, writer = await stdio_streams(limit=DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
    sys.stdin, sys.stdout = io.StringIO(), sys.stderr
    try:
        await run_agent(cast(Any, agent), input_stream=writer, output_stream=reader)
    finally:
        agent.stop_turns()


def _keep_standard_streams() -> None:
    """Move the protocol to descriptors of its own: what a library or a child process prints must not get into it."""
    sys.stdin, sys.stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
