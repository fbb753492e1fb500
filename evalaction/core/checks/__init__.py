"""Scoring: one function per check type, and the trial they add up to."""

from evalaction.core.checks.scoring import SCORERS, CheckScore, Scoring, score_answer

__all__ = ["SCORERS", "CheckScore", "Scoring", "score_answer"]
