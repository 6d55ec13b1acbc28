#!/usr/bin/env python3
"""Analyses one event with a language model: `cola-ia work -- python3 examples/analizar.py`.

The text comes on stdin. Any endpoint will do that speaks OpenAI's chat completions. From the environment:
  OPENAI_API_KEY, OPENAI_MODEL   required
  OPENAI_BASE_URL                where it is not OpenAI's own, e.g. http://127.0.0.1:8080/v1
  ANALIZAR_PROMPT                what the model is to do with the text
  ANALIZAR_TIMEOUT               seconds of silence after which a request is given up; 120
  ANALIZAR_PRICE_IN              price of a million tokens that go in, and
  ANALIZAR_PRICE_OUT             of a million that come out; without them no cost is recorded
  ANALIZAR_CURRENCY              what they are in, e.g. EUR
It needs Python 3.11 or newer and the packages of examples/requirements.txt.
"""

import json
import os
import sys
from decimal import Decimal, InvalidOperation

import openai
from openai.types.chat import ChatCompletion

DONE, FAILED, PERMANENT, AGAIN_LATER, MISCONFIGURED = 0, 1, 65, 75, 78
# The request is wrong, or the key, the address or the model is: the answer would be the same another time.
PERMANENT_STATUS = {400, 401, 404, 422}
# A result file holds 64 KiB.
ANALYSIS_MAX_CHARS = 15_000
ERROR_MAX_CHARS = 2_000
# A budget that is used up is answered like a rate limit, but stays so until somebody pays.
QUOTA_WAIT_SECONDS = 3600
PROMPT = "Analiza esta idea en tres frases: qué propone, qué riesgo tiene y cuál es el siguiente paso."


class Settings:
    """What the environment says, but for the key and the address, which the library reads itself."""

    def __init__(self):
        required("OPENAI_API_KEY")
        self.model = required("OPENAI_MODEL")
        self.prompt = os.environ.get("ANALIZAR_PROMPT", PROMPT)
        self.timeout = number("ANALIZAR_TIMEOUT", "120")
        self.price_in = number("ANALIZAR_PRICE_IN", "0")
        self.price_out = number("ANALIZAR_PRICE_OUT", "0")
        self.currency = os.environ.get("ANALIZAR_CURRENCY")


def required(name):
    if not os.environ.get(name):
        raise ValueError(f"{name} is not set")
    return os.environ[name]


def number(name, default):
    value = os.environ.get(name, default)
    try:
        read = Decimal(value)
    except InvalidOperation:
        read = None
    if read is None or not read.is_finite() or read < 0:
        raise ValueError(f"{name} is no number: {value!r}")
    return read


def main():
    text = sys.stdin.buffer.read().decode("utf-8")
    try:
        settings = Settings()
    except ValueError as wrong:
        return MISCONFIGURED, {"error_class": "misconfigured", "error": str(wrong)}
    # Retries are left to the queue, which counts and spreads them and does other jobs meanwhile.
    client = openai.OpenAI(max_retries=0, timeout=float(settings.timeout))
    messages = [{"role": "system", "content": settings.prompt}, {"role": "user", "content": text}]
    try:
        answer = client.chat.completions.create(model=settings.model, messages=messages)
    except openai.APIStatusError as refused:
        return refusal(refused)
    except json.JSONDecodeError as unreadable:
        return no_completion(unreadable.doc)
    except openai.APIConnectionError as lost:  # or timed out
        return FAILED, {"error_class": "no_answer", "error": f"{lost} {lost.__cause__ or ''}".strip()}
    return outcome(answer, settings)


def refusal(refused):
    """An answer that is an HTTP error."""
    result = {"error_class": f"http_{refused.status_code}", "error": refused.message}
    if retry_after := refused.response.headers.get("retry-after"):
        result["retry_after"] = retry_after
    if refused.status_code == 429:
        if refused.code == "insufficient_quota":
            result |= {"error_class": "insufficient_quota", "retry_after": QUOTA_WAIT_SECONDS}
        return AGAIN_LATER, result
    return (PERMANENT if refused.status_code in PERMANENT_STATUS else FAILED), result


def outcome(answer, settings):
    """What came out of the model. What it cost is recorded even where it is of no use."""
    if not isinstance(answer, ChatCompletion) or not answer.choices:  # the library takes any JSON for one
        return no_completion(answer)
    result = {"resource_id": answer.id, "model": answer.model} | usage(answer.usage, settings)
    choice = answer.choices[0]
    if not choice.message.content:
        return FAILED, result | {"error_class": "empty_answer", "error": f"no text; finished by {choice.finish_reason}"}
    analysis = choice.message.content[:ANALYSIS_MAX_CHARS]
    return DONE, result | {"analysis": analysis, "finish_reason": choice.finish_reason}


def no_completion(what):
    return FAILED, {"error_class": "no_completion", "error": f"the answer is no chat completion: {what!r}"}


def usage(used, settings):
    if used is None:
        return {}
    result = {"tokens_in": used.prompt_tokens, "tokens_out": used.completion_tokens}
    cost = (used.prompt_tokens * settings.price_in + used.completion_tokens * settings.price_out) / 1_000_000
    if cost:
        result["cost"] = f"{cost:f}"
        if settings.currency:
            result["currency"] = settings.currency
    return result


if __name__ == "__main__":
    code, result = main()
    if "error" in result:
        result["error"] = result["error"][:ERROR_MAX_CHARS]
        print(f"{result['error_class']}: {result['error']}", file=sys.stderr)
    # By hand, the result goes to stdout.
    path = os.environ.get("COLA_IA_RESULT", "/dev/stdout")
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        json.dump(result, file, ensure_ascii=False)
    sys.exit(code)
