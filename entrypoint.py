"""Where the Action enters, in the image and on the host: `entrypoint.py`, and `entrypoint.py finish` when the run before it died."""

import os
import signal
import sys
from pathlib import Path

signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # until there is somebody to end the run in order
sys.dont_write_bytecode = True  # the workspace and the runner stay as they were
sys.path.insert(0, str(Path(__file__).resolve().parent))

from evalaction.handover import take_over  # noqa: E402 - found only after its folder is on the path

if __name__ == "__main__":
    take_over(os.environ)
    from evalaction.action import main  # after the process has begun anew, so that it is imported once

    main()
