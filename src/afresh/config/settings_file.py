import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from afresh.errors import BadInput

T = TypeVar("T")


def find_user_config() -> Path:
    from platformdirs import user_config_path

    return user_config_path("afresh") / "config.toml"


def read_settings_file(path: Path, known: type) -> dict[str, Any]:
    """The fields of `known` that the file sets, each as its type requires."""
    if not path.is_file():
        return {}
    with _explain_faults(path):
        fields = _read_fields(tomllib.loads(path.read_text("utf-8")), known, "")
        if fields.keys() & {"models", "rates"}:
            from afresh.models.choose_model import check_model_names

            check_model_names(fields.get("models", {}), fields.get("rates", {}))
        return fields


def read_settings_table(path: Path, name: str, known: type[T]) -> T:
    """One table of the file, whatever else is in it."""
    if not path.is_file():
        return known()
    with _explain_faults(path):
        return known(**_read_fields(_read_table(tomllib.loads(path.read_text("utf-8")).get(name, {}), name), known, f"{name}."))


def read_settings_key(path: Path, name: str) -> str:
    """One text of the file, whatever else is in it; empty if it is not set. The file is parsed only if it may be."""
    if not path.is_file():
        return ""
    with _explain_faults(path):
        text = path.read_text("utf-8")
        value = tomllib.loads(text).get(name, "") if name in text else ""
        if not isinstance(value, str):
            raise _UnfitValue(f"{name} should be {EXPECTED_VALUES[str]}")
        return value


@contextmanager
def _explain_faults(path: Path) -> Iterator[None]:
    """Raise what is wrong with a file of settings as BadInput."""
    try:
        yield
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise BadInput(f"{path} can't be read: {fault}", next="fix the file", safe="nothing was changed") from fault
    except RecursionError as fault:
        what = f"{path} can't be read: its values are nested too deeply"
        raise BadInput(what, next="fix the file", safe="nothing was changed") from fault
    except _UnknownKeys as fault:
        may = f"settings of this file: {', '.join(fault.known)}"
        what = f"{path}: {fault} can't be set in this file{fault.hint}"
        raise BadInput(what, next=may, safe="nothing was changed") from fault
    except (_UnfitValue, ValueError) as fault:
        raise BadInput(f"{path}: {fault}", next="fix the file", safe="nothing was changed") from None


class _UnknownKeys(Exception):
    def __init__(self, names: list[str], known: list[str]) -> None:
        from difflib import get_close_matches

        super().__init__(", ".join(names))
        swapped = [name for name in known if sorted(name) == sorted(names[0].lower())]
        near = swapped or get_close_matches(names[0].lower(), known, n=1)
        self.known, self.hint = known, f" (did you mean {near[0]}?)" if near else ""


class _UnfitValue(Exception):
    pass


def _read_fields(plain: Mapping[str, Any], known: type, at: str) -> dict[str, Any]:
    hints = get_type_hints(known)
    names = [field.name for field in fields(known)]
    unknown = sorted(set(plain) - set(names))
    if unknown and at:
        raise _UnfitValue(f"{at.rstrip('.')}: unknown setting {', '.join(unknown)}; known are: {', '.join(names)}")
    if unknown:
        raise _UnknownKeys(unknown, names)
    return {name: _read_value(value, hints[name], f"{at}{name}") for name, value in plain.items()}


INTEGER_LIST_TYPE = tuple[int, ...]
OPTIONAL_INTEGER_TYPE = int | None
"""Fields whose default is None may be 0."""
EXPECTED_VALUES: dict[Any, str] = {
    tuple: "a list of texts", INTEGER_LIST_TYPE: "a list of whole numbers of 0 or more", int: "a whole number above 0",
    OPTIONAL_INTEGER_TYPE: "a whole number of 0 or more",    float: "a number of 0 or more", str: "a text", bool: "true or false",
}  # fmt: skip


def _read_value(value: Any, hint: Any, name: str) -> Any:
    """The value as its type requires: a table, tables by name, a list of texts, or a plain value."""
    if hint != OPTIONAL_INTEGER_TYPE and (isinstance(hint, UnionType) or get_origin(hint) is Union):
        hint = next(raw_value for raw_value in get_args(hint) if raw_value is not NoneType)
    if is_dataclass(hint) and isinstance(hint, type):
        try:
            return hint(**_read_fields(_read_table(value, name), hint, f"{name}."))
        except ValueError as wrong:
            raise _UnfitValue(f"{name}: {wrong}") from None
    wanted = hint if hint in (INTEGER_LIST_TYPE, OPTIONAL_INTEGER_TYPE) else get_origin(hint) or hint
    if wanted is Literal:
        return _read_choice(value, get_args(hint), name)
    if wanted is Mapping:
        arg = get_args(hint)[1]
        return {key: _read_value(raw_value, arg, f"{name}.{key}") for key, raw_value in _read_table(value, name).items()}
    if not _is_fitting(value, wanted):
        raise _UnfitValue(f"{name} should be {EXPECTED_VALUES[wanted]}")
    return tuple(value) if wanted in (tuple, INTEGER_LIST_TYPE) else float(value) if wanted is float else value


def _read_choice(value: Any, known: tuple[str, ...], name: str) -> Any:
    if value not in known:
        raise _UnfitValue(f"{name} should be one of: {', '.join(known)}")
    return value


def _read_table(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _UnfitValue(f"{name} should be a table")
    return value


def _is_fitting(value: Any, wanted: Any) -> bool:
    if wanted is tuple:
        return isinstance(value, list) and all(isinstance(raw_value, str) for raw_value in value)
    if wanted == INTEGER_LIST_TYPE:
        return isinstance(value, list) and all(type(raw_value) is int and raw_value >= 0 for raw_value in value)
    if wanted == OPTIONAL_INTEGER_TYPE:
        return type(value) is int and value >= 0
    if wanted is int:
        return type(value) is int and value > 0
    if wanted is float:
        return type(value) in (int, float) and 0 <= value < float("inf")
    return isinstance(value, wanted)
