#!/usr/bin/env bash
# Counts the words of each event, over HTTP: one job after another, until nothing has come for a second. Needs curl and jq.
set -euo pipefail
ask() { # the token goes by a file descriptor: others on the machine can read arguments
  curl -sS --fail --json "$2" -K <(printf 'header = "Authorization: Bearer %s"' "$COLA_IA_TOKEN") "$COLA_IA_SERVER/v1$1"
}
while job=$(ask /leases/claim '{"wait_ms": 1000}') && [ "$(jq '.leases | length' <<<"$job")" -gt 0 ]; do
  words=$(jq -r '.leases[0].text' <<<"$job" | wc -w)
  if [ "$words" -le 1000 ]; then
    end=$(jq -c "{lease: .leases[0].lease, outcome: \"done\", result: \"{\\\"words\\\": $words}\"}" <<<"$job")
  else
    end=$(jq -c '{lease: .leases[0].lease, outcome: "permanent", error_class: "too_long"}' <<<"$job")
  fi
  ask /leases/end "{\"ends\": [$end]}" >/dev/null
done
