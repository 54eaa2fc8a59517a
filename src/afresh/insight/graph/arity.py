"""Whether a call can be one of a function, going by the number and names of its arguments."""

import ast


def can_accept_call(call: ast.Call, arguments: ast.arguments, bound: bool) -> bool:
    """`bound`: the first parameter is given by the receiver. What is spread out with stars may be anything."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(keyword.arg is None for keyword in call.keywords):
        return True
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)][bound:]
    given = len(call.args)
    named = {keyword.arg for keyword in call.keywords if keyword.arg}
    if given > len(positional) and arguments.vararg is None:
        return False
    known = {*positional[given:], *(each.arg for each in arguments.kwonlyargs)}
    if arguments.kwarg is None and not named <= known:
        return False
    required = positional[given : len(positional) - len(arguments.defaults)] if arguments.defaults else positional[given:]
    needed = {each.arg for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None}
    return {*required, *needed} <= named
