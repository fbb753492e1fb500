"""`python -m evalaction` is the same as the console script `eval-gate`."""

from evalaction.cli import main

if __name__ == "__main__":
    main()
