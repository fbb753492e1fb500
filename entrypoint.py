"""What the container starts: inputs and event from the environment, one mode of the Action, its exit code."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the workspace and the runner stay as they were
sys.path.insert(0, str(Path(__file__).resolve().parent))

from evalaction.action import main  # noqa: E402 - found only after its folder is on the path

if __name__ == "__main__":
    main()
