"""Classes of the core behave as those that the standard library makes."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from afresh.core.fast_dataclass import build_dataclass
from afresh.core.fast_dataclass import dataclass as fast_dataclass

Decorator = Callable[..., Any]


def make_point(decorator: Decorator) -> Any:
    @decorator(frozen=True, slots=True)
    class Point:
        """A place."""

        x: int
        y: float = 0.5
        names: list[str] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False)

        @property
        def doubled(self) -> int:
            return 2 * self.x

    return Point


def make_only_named(decorator: Decorator) -> Any:
    @decorator(frozen=True, slots=True, kw_only=True)
    class Named:
        first: int
        second: int = 2

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError("negative")

    return Named


def make_single(decorator: Decorator) -> Any:
    @decorator(frozen=True, slots=True)
    class Single:
        value: float = 0.0

    return Single


def make_empty(decorator: Decorator) -> Any:
    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    return Empty


PAIRS = {make.__name__: [make(one) for one in (dataclasses.dataclass, fast_dataclass)] for make in (make_point, make_only_named)}
NAN = float("nan")


@fast_dataclass(frozen=True, slots=True)
class Kept:
    x: int
    names: tuple[str, ...] = ()


@pytest.mark.parametrize("point", PAIRS["make_point"])
def test_fields_defaults_and_equality_are_those_of_a_dataclass(point: Any) -> None:
    one = point(1)
    assert (one.x, one.y, one.names, one.note, one.doubled) == (1, 0.5, [], "", 2)
    assert one == point(1, note="other") and one != point(2) and one != point(1, 0.25)
    assert point(1).names is not point(1).names
    assert one != (1, 0.5, [], "") and repr(one).endswith("Point(x=1, y=0.5, names=[], note='')")
    assert [field.name for field in dataclasses.fields(point)] == ["x", "y", "names", "note"]
    assert dataclasses.replace(one, y=3.0) == point(1, 3.0) and dataclasses.asdict(one)["x"] == 1
    assert list(inspect.signature(point).parameters) == ["x", "y", "names", "note"] and point.__match_args__[0] == "x"


@pytest.mark.parametrize("point", PAIRS["make_point"])
def test_nothing_can_be_changed_or_added(point: Any) -> None:
    one = point(1)
    for change in (lambda: setattr(one, "x", 2), lambda: delattr(one, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):  # of Python 3.11 a TypeError
        one.new = 2
    assert one.x == 1 and not hasattr(one, "__dict__")


@pytest.mark.parametrize("named", PAIRS["make_only_named"])
def test_names_are_required_where_it_says_so_and_values_are_checked(named: Any) -> None:
    assert (named(first=1).first, named(first=1).second) == (1, 2)
    with pytest.raises(TypeError):
        named(1)
    with pytest.raises(TypeError):
        named(second=1)
    with pytest.raises(ValueError, match="negative"):
        named(first=-1)


@pytest.mark.parametrize("decorator", [dataclasses.dataclass, fast_dataclass])
def test_a_class_of_one_field_or_none_compares_and_hashes(decorator: Decorator) -> None:
    single, empty = make_single(decorator), make_empty(decorator)
    assert single(NAN) == single(NAN) and single(1.0) != single(2.0)
    assert hash(single(1.0)) == hash((1.0,)) and hash(empty()) == hash(()) and empty() == empty() != single()


def test_a_value_survives_copying_and_pickling() -> None:
    one = Kept(3, ("a", "b"))
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert {one: 1}[Kept(3, ("a", "b"))] == 1


@pytest.mark.parametrize("kind", [{"frozen": False, "slots": True}, {"frozen": True, "slots": False}])
def test_other_classes_are_left_to_the_standard_library(kind: dict[str, bool]) -> None:
    with pytest.raises(TypeError, match="standard library"):
        build_dataclass(**kind)
