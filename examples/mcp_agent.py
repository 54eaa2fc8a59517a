"""Another agent with the memory of afresh: stores a fact, asks what is known, and looks up where a function is.

Needs the extra `mcp`, and `afresh init` once in the repository. Start it there:  python mcp_agent.py
Claude Code does the same after:  claude mcp add afresh -- afresh mcp
Cursor, in .cursor/mcp.json:  {"mcpServers": {"afresh": {"command": "afresh", "args": ["mcp"]}}}
"""

import asyncio

from mcp import Client, StdioServerParameters
from mcp_types import TextContent

CALLS = (
    ("continuity", {}),
    ("remember", {"subject": "tests", "text": "the tests run with unittest, not with pytest"}),
    ("recall", {"query": "how do the tests run"}),
    ("find", {"symbol": "double"}),
)


async def main() -> None:
    async with Client(StdioServerParameters(command="afresh", args=["mcp"])) as client:
        for tool, arguments in CALLS:
            result = await client.call_tool(tool, arguments)
            text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
            print(f"## {tool}\n{text}\n")


if __name__ == "__main__":
    asyncio.run(main())
