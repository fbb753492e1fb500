"""Stands in for a retrieval system: JSON lines in, answers with their documents out. `CHUNKS=new` is the change that loses documents."""

import json
import os
import sys

FOUND = {"window": ["policy", "returns"], "warranty": ["warranty"], "packaging": ["policy"]}
SAID = {"window": "Within 30 days.", "warranty": "two years", "packaging": "The original packaging."}

for line in sys.stdin:
    case = json.loads(line)
    found = FOUND[case["id"]][: 1 if os.environ.get("CHUNKS") == "new" else None]
    print(json.dumps({"id": case["id"], "answer": SAID[case["id"]], "retrieved": found}), flush=True)
