"""Scoring: one function per check type, and the trial they add up to."""

from evalaction.core.checks.base import CheckScore
from evalaction.core.checks.scoring import SCORERS, Scored, Scoring, score_answer

__all__ = ["SCORERS", "CheckScore", "Scored", "Scoring", "score_answer"]
