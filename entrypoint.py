"""Where the Action enters, in the image and on the host: `entrypoint.py`, and `entrypoint.py finish` when the run before it died."""

import signal
import sys
from pathlib import Path

signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # until there is somebody to end the run in order
sys.dont_write_bytecode = True  # the workspace and the runner stay as they were
sys.path.insert(0, str(Path(__file__).resolve().parent))

from evalaction.action import main  # noqa: E402 - found only after its folder is on the path

if __name__ == "__main__":
    main()
