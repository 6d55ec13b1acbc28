#!/usr/bin/env python3
# Counts the words of one event. To be run once a job: cola-ia work -- python3 words.py
import json
import os
import sys

text = sys.stdin.buffer.read().decode("utf-8")
words = len(text.split())
result = {"words": words}
if words > 1000:
    result = {"error_class": "too_long", "error": f"{words} words"}
with open(os.environ["COLA_IA_RESULT"], "w") as file:
    json.dump(result, file)
sys.exit(65 if words > 1000 else 0)  # 65: it would be the same another time
