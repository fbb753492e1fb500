"""Records, baselines and history on disk."""
