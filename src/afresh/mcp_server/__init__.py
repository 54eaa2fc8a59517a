"""Serves memory, tasks and code understanding to other agents over the Model Context Protocol."""
