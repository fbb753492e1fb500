"""What the container starts: inputs and event from the environment, one mode of the Action, its exit code."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from evalaction.action import main

if __name__ == "__main__":
    main()
