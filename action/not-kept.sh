#!/usr/bin/env bash
# The upload of the results failed; the verdict stands. Says what that costs and what to do.
set -euo pipefail

# The name is made of safe characters; the line is one whatever it holds.
name=$(printf '%s' "${RESULTS_ARTIFACT:-}" | tr -c 'A-Za-z0-9._-' '-')
echo "::warning title=eval-gate::The results could not be kept as the artifact $name; the verdict stands. This run can be neither accepted nor reported for a fork." \
  "If the name was taken, give each use in this job a key of its own. An enterprise server takes no uploads of this kind: keep baselines with baseline-store: directory."
