#!/usr/bin/env python3
# Counts the words of each event, over HTTP: claims up to ten jobs at a time, until nothing has come for a second.
import json, os, urllib.request

def ask(path, body):
    headers = {"Authorization": "Bearer " + os.environ["COLA_IA_TOKEN"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["COLA_IA_SERVER"] + "/v1" + path, json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request, timeout=60))
def count(job):
    words = len(job["text"].split())
    if words > 1000:
        return {"lease": job["lease"], "outcome": "permanent", "error_class": "too_long"}
    return {"lease": job["lease"], "outcome": "done", "result": json.dumps({"words": words})}
while jobs := ask("/leases/claim", {"limit": 10, "wait_ms": 1000})["leases"]:
    ask("/leases/end", {"ends": [count(job) for job in jobs]})
