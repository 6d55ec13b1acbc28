#!/usr/bin/env node
// Counts the words of each event. Claims jobs by itself, and stays to wait for more.
import { spawnSync } from "node:child_process";

const cola = (args, input = "") =>
  spawnSync("cola-ia", args, { input, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"], maxBuffer: 2 ** 24 });
for (;;) {
  const claim = cola(["claim", "--json", "--wait", "30s"]);
  if (claim.status === 8) continue; // nothing came meanwhile
  if (claim.status !== 0) process.exit(1);
  const { lease, text } = JSON.parse(claim.stdout);
  const words = text.split(/\s+/).filter(Boolean).length;
  if (words <= 1000) cola(["complete", lease, "--result", "-"], JSON.stringify({ words }));
  else cola(["fail", lease, "--permanent", "--class", "too_long"]);
}
