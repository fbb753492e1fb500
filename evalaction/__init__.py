"""eval-gate: a pull-request gate for evaluations of systems built on language models."""

__version__ = "0.1.0"
