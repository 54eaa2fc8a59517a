"""A client as the settings say."""

from collections.abc import Mapping
from typing import Any

from net.client import Client, Transport


def client(transport: Transport, settings: Mapping[str, Any]) -> Client:
    return Client(transport)
