"""Tests of chance against change, in plain Python: exact where outcomes are 0 or 1, by t where they are graded."""
