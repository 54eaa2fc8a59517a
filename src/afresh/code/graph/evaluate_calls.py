import ast
from collections.abc import Callable, Sequence

from afresh.code.graph.class_hierarchy import resolve_member, resolve_return
from afresh.code.graph.inference_session import InferenceSession
from afresh.code.graph.inferred_values import (
    UNKNOWN_VALUES,
    ClassValue,
    ContainerValue,
    ExternalValue,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    SuperValue,
    Value,
    Values,
    to_external_value,
    to_list_value,
)
from afresh.code.graph.resolve_annotations import resolve_annotation
from afresh.code.graph.resolve_names import call_member, iterate_value, resolve_module_member, unite_values
from afresh.code.graph.scopes import NameScope


def resolve_attribute(world: InferenceSession, value: Value, name: str) -> Values:
    """What `value.name` may stand for."""
    match value:
        case ModuleValue():
            return resolve_module_member(world, value.path, name)
        case ClassValue():
            return resolve_member(world, value, name, False)
        case InstanceValue():
            return resolve_member(world, value.of, name, True)
        case SuperValue():
            return resolve_member(world, value.on, name, True, after=value.of)
        case ExternalValue() | ContainerValue():
            return to_external_value(f"{value.name if isinstance(value, ExternalValue) else f'builtins.{value.shape}'}.{name}")
    return to_external_value("builtins.function") if isinstance(value, FunctionValue) else UNKNOWN_VALUES


def resolve_call(world: InferenceSession, value: Value) -> Values:
    """What a call of it gives."""
    match value:
        case ClassValue():
            return frozenset({InstanceValue(value)})
        case FunctionValue():
            return resolve_return(world, value)
        case InstanceValue():
            return call_member(world, value.of, "__call__") or UNKNOWN_VALUES
        case ContainerValue(shape="callable"):
            return value.parts[0]
        case ExternalValue():
            return to_external_value(f"{value.name}()")
    return UNKNOWN_VALUES


# Functions of the standard library that give back what they were given

CallArguments = Sequence[ast.expr]


def _evaluate_first_argument(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return world.value(given[0], scope) if given else UNKNOWN_VALUES


def _evaluate_items(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return unite_values(iterate_value(world, value) for value in _evaluate_first_argument(world, given, scope))


def _evaluate_list_call(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return to_list_value(_evaluate_items(world, given, scope) if given else UNKNOWN_VALUES)


def _evaluate_enumerate(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return to_list_value(
        frozenset({ContainerValue("tuple", (to_external_value("builtins.int"), _evaluate_items(world, given, scope)))})
    )


def _evaluate_zip(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return to_list_value(frozenset({ContainerValue("tuple", tuple(_evaluate_items(world, [each], scope) for each in given))}))


def _evaluate_map(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return to_list_value(unite_values(resolve_call(world, value) for value in _evaluate_first_argument(world, given, scope)))


def _evaluate_type(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    if len(given) != 1:
        return UNKNOWN_VALUES
    return frozenset(
        value.of if isinstance(value, InstanceValue) else value for value in _evaluate_first_argument(world, given, scope)
    )


def _evaluate_super(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    own = scope.own_class
    if own is None:
        return UNKNOWN_VALUES
    here = ClassValue(own.path, own.name)
    said = (
        [value for value in _evaluate_first_argument(world, given, scope) if isinstance(value, ClassValue)] if given else [here]
    )
    return frozenset(SuperValue(value, here) for value in said) or UNKNOWN_VALUES


def _evaluate_cast(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return resolve_annotation(world, given[0], scope) if given else UNKNOWN_VALUES


def _evaluate_getattr(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    if len(given) > 1 and isinstance(given[1], ast.Constant) and isinstance(given[1].value, str):
        name = given[1].value
        return unite_values(resolve_attribute(world, value, name) for value in _evaluate_first_argument(world, given, scope))
    return UNKNOWN_VALUES


def _evaluate_min_or_max(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return unite_values(world.value(each, scope) for each in given) if len(given) > 1 else _evaluate_items(world, given, scope)


def _evaluate_closing(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return frozenset({ContainerValue("context", (_evaluate_first_argument(world, given, scope),))})


def _evaluate_dict_call(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return frozenset({ContainerValue("dict", (UNKNOWN_VALUES, UNKNOWN_VALUES))})


def _evaluate_untracked(world: InferenceSession, given: CallArguments, scope: NameScope) -> Values:
    return UNKNOWN_VALUES


DICT_FACTORIES = (
    "dict", "collections.defaultdict", "collections.OrderedDict", "collections.ChainMap", "weakref.WeakKeyDictionary",
    "weakref.WeakValueDictionary",
)  # fmt: skip
UNTRACKED_FUNCTIONS = (
    "eval", "__import__", "importlib.import_module", "pickle.loads", "vars", "globals", "locals", "threading.local",
    "weakref.ref", "weakref.proxy", "contextvars.ContextVar", "queue.Queue", "itertools.chain", "filter", "functools.reduce",
)  # fmt: skip
CALL_EVALUATORS: dict[str, Callable[[InferenceSession, CallArguments, NameScope], Values]] = {
    **dict.fromkeys(
        ("list", "set", "tuple", "frozenset", "sorted", "iter", "reversed", "collections.deque"), _evaluate_list_call
    ),
    **dict.fromkeys(
        ("functools.partial", "copy.copy", "copy.deepcopy", "functools.partialmethod", "staticmethod"), _evaluate_first_argument
    ),
    **dict.fromkeys(("next", "sum", "random.choice"), _evaluate_items),
    **dict.fromkeys(DICT_FACTORIES, _evaluate_dict_call),
    **dict.fromkeys(UNTRACKED_FUNCTIONS, _evaluate_untracked),
    **dict.fromkeys(("min", "max"), _evaluate_min_or_max),
    **dict.fromkeys(("typing.cast", "typing_extensions.cast"), _evaluate_cast),
    "classmethod": _evaluate_first_argument,
    "enumerate": _evaluate_enumerate,
    "zip": _evaluate_zip,
    "map": _evaluate_map,
    "type": _evaluate_type,
    "super": _evaluate_super,
    "getattr": _evaluate_getattr,
    "contextlib.closing": _evaluate_closing,
}
