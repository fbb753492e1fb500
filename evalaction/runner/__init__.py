"""Measuring: asks a target for trials within limits, scores the answers, and hands every trial on as it becomes known."""
