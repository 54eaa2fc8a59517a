"""Who means whom: names, scopes, types and classes of Python, followed as far as reading alone can."""
