"""Processes that go on by themselves: workers, the service, their signals."""
