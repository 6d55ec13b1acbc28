#!/usr/bin/env python3
# Pays once for an event, guarded by its key. To be run once a job: cola-ia work -- python3 pay.py
import datetime
import json
import os
import secrets
import socket
import sys
import urllib.request


def ask(verb, **fields):  # one JSON object a line each way
    with socket.socket(socket.AF_UNIX) as worker:
        worker.connect(os.environ["COLA_IA_SOCKET"])
        worker.sendall(json.dumps({"v": 1, "verb": verb, "name": "pay", **fields}).encode() + b"\n")
        return json.loads(worker.makefile().readline())


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# The begin id is drawn anew by each process and kept nowhere.
answer = ask("effect_begin", begin_id=secrets.token_hex(16), key_ttl_ms=86_400_000)
if answer["result"] == "done":
    sys.exit(0)  # paid before: answer["record"] has what was recorded
if answer["result"] != "go":
    sys.exit(f"{answer['result']} {answer['reason']}")
this_try = {"try": answer["try"]}
order = urllib.request.Request(os.environ["PAY_URL"], sys.stdin.buffer.read())
order.add_header("Idempotency-Key", answer["key"])
if now() >= answer["send_before"]:
    ask("effect_failed", outcome="not_sent", **this_try)
    sys.exit(75)
try:
    with urllib.request.urlopen(order, timeout=30) as reply:
        resource_id = json.load(reply)["id"]
except Exception as wrong:
    if getattr(wrong, "code", None) in (400, 401, 402, 404, 422):
        ask("effect_failed", outcome="rejected", note=str(wrong), **this_try)
        sys.exit(65)
    ask("effect_unknown", note=str(wrong), **this_try)  # an error is no proof that it did not happen
    sys.exit(1)
ask("effect_done", resource_id=resource_id, **this_try)
