"""Adapters for Anthropic, OpenAI and compatible servers."""
