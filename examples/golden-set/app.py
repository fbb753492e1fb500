"""Stands in for the application: answers the questions of golden.json, one JSON line each."""

import json
import sys

ANSWERS = {
    "inv-001": "1240.00",
    "rag-014": "Unopened hardware can be returned within 30 days in its original packaging.",
    "sum-032": "A full disk stopped the database. Customers could not sign in for 40 minutes.",
}

for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps({"id": case["id"], "output": ANSWERS[case["id"]]}), flush=True)
