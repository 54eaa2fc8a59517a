"""DBOS keeps JSON of workflows. By itself it keeps pickles: whoever can write to the store would run code in every worker."""

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from dbos import DBOSPortableJSONSerializer


def make_json_serializer() -> "DBOSPortableJSONSerializer":
    """The serializer of a worker or a client. A row can call itself a pickle, whatever is configured: no such row is read."""
    from dbos import DBOSPortableJSONSerializer, _serialization

    _serialization.DefaultSerializer.deserialize = refuse_pickle
    return DBOSPortableJSONSerializer()


def refuse_pickle(cls: object, serialized_data: str) -> NoReturn:
    raise ValueError("the store holds a pickle, which no worker of afresh writes; it was not read")
