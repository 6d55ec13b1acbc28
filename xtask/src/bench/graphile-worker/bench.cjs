// How many jobs a second graphile-worker works, ten at once in one process: `node bench.cjs ADDRESS JOBS`, with its packages in
// NODE_PATH. Each job is added, taken, run (it does nothing) and ended; the clock runs from the first one taken.
"use strict";

const { makeWorkerUtils, run, Logger } = require("graphile-worker");

const [connectionString, count] = [process.argv[2], Number(process.argv[3])];
const silent = new Logger(() => () => {});

async function main() {
  const utils = await makeWorkerUtils({ connectionString, logger: silent });
  await utils.migrate();
  await utils.withPgClient((client) =>
    client.query(
      `SELECT graphile_worker.add_job('nothing', json_build_object('n', n)) FROM generate_series(1, $1) AS n`,
      [count],
    ),
  );
  await utils.withPgClient((client) => client.query("VACUUM ANALYZE graphile_worker._private_jobs"));
  let left = count;
  let end;
  const ended = new Promise((resolve) => (end = resolve));
  const start = process.hrtime.bigint();
  const runner = await run({
    connectionString,
    concurrency: 10,
    noHandleSignals: true,
    pollInterval: 100,
    logger: silent,
    taskList: {
      nothing: async () => {
        left -= 1;
        if (left === 0) end();
      },
    },
  });
  await ended;
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  await runner.stop();
  await utils.withPgClient((client) => client.query("DROP SCHEMA graphile_worker CASCADE"));
  await utils.release();
  console.log(Math.round(count / seconds));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
