"""Tools of the MCP servers that the user has configured: settings, approval, connections."""
