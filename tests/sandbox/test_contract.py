"""The sandbox contract, held against every level."""

import pytest

from afresh.testing.sandbox_contract import SandboxContract


class TestBubblewrap(SandboxContract):
    @pytest.fixture
    def place(self, make_place):
        return make_place("bubblewrap")


class TestLandlock(SandboxContract):
    @pytest.fixture
    def place(self, make_place):
        return make_place("landlock")


class TestNone(SandboxContract):
    @pytest.fixture
    def place(self, make_place):
        return make_place("none")
