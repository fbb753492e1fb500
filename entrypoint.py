"""Where the Action enters, in the image and on the host: `entrypoint.py`, and `entrypoint.py finish` when the run before it died."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from evalaction.action import main

    main()
