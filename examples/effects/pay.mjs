#!/usr/bin/env node
// Pays once for an event, guarded by its key. To be run once a job: cola-ia work -- node pay.mjs
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect } from "node:net";

// One JSON object a line each way.
const ask = (verb, fields) =>
  new Promise((resolve, reject) => {
    let line = "";
    const worker = connect(process.env.COLA_IA_SOCKET, () =>
      worker.write(JSON.stringify({ v: 1, verb, name: "pay", ...fields }) + "\n"));
    worker.on("data", (data) => (line += data)).on("error", reject);
    worker.on("data", () => line.endsWith("\n") && (worker.end(), resolve(JSON.parse(line))));
  });

// The begin id is drawn anew by each process and kept nowhere.
const answer = await ask("effect_begin", { begin_id: randomBytes(16).toString("hex"), key_ttl_ms: 86_400_000 });
if (answer.result === "done") process.exit(0); // paid before: answer.record has what was recorded
if (answer.result !== "go") throw new Error(`${answer.result} ${answer.reason}`);
const order = {
  method: "POST",
  headers: { "Idempotency-Key": answer.key },
  body: readFileSync(0),
  signal: AbortSignal.timeout(30_000),
};
if (Date.now() >= Date.parse(answer.send_before)) {
  await ask("effect_failed", { try: answer.try, outcome: "not_sent" });
  process.exit(75);
}
try {
  const reply = await fetch(process.env.PAY_URL, order);
  if ([400, 401, 402, 404, 422].includes(reply.status)) {
    await ask("effect_failed", { try: answer.try, outcome: "rejected", note: `${reply.status}` });
    process.exit(65);
  }
  if (!reply.ok) throw new Error(`${reply.status}`);
  const { id } = await reply.json();
  await ask("effect_done", { try: answer.try, resource_id: id });
} catch (wrong) {
  await ask("effect_unknown", { try: answer.try, note: `${wrong}` }); // an error is no proof that it did not happen
  process.exit(1);
}
