// What goal G8 compares with: graphile-worker on PostgreSQL, 32 jobs at a time, in one process.
//
// `DATABASE_URL=… node graphile-worker.js JOBS CONFIGURATION [ROUNDS]` prints jobs completed per second, a line per round;
// with `adds` as configuration, jobs added per second, one at a time on each of 8 connections.
// The database is one that the caller makes and drops. Its server's settings are taken as they are, so commits are as
// durable as those of our own rows on PostgreSQL: fsync and synchronous_commit on, as the throw-away server of
// `cargo xtask bench` leaves them.
//
// What favours the reference: no HTTP and no sign-in, jobs queued in bulk beforehand, tables just vacuumed and analysed,
// tasks that do nothing, a first round that only warms up, and a clock that starts with the first job, when its
// connections are open and its statements prepared.

import { Logger, makeWorkerUtils, runMigrations, runOnce } from "graphile-worker";
import pg from "pg";

const CONCURRENCY = 32;
const ADDING = 8;
const WARM_SHARE = 0.5;
const TASK = "bench";

const CONFIGURATIONS = {
  // As its own performance test runs it: a connection for each job at a time and one more, a claim and a delete each.
  plain: { concurrentJobs: CONCURRENCY, maxPoolSize: CONCURRENCY + 1 },
  // As its documentation advises for many small jobs: claimed 500 at a time, completed together within a millisecond.
  // 500 was twice as fast as 64; neither 2,000 nor delays of 10 and 50 ms were reliably faster. It gives something up for
  // that: a crash leaves a batch locked for hours, and then what was done but not yet completed is run a second time.
  batched: {
    concurrentJobs: CONCURRENCY,
    maxPoolSize: CONCURRENCY + 1,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
  // No job is run: each connection adds one job after the other, as our clients create sessions.
  adds: { concurrentJobs: 1, maxPoolSize: ADDING },
};

const [jobsText, name, roundsText = "1"] = process.argv.slice(2);
const url = process.env.DATABASE_URL;
const configuration = CONFIGURATIONS[name];
const [jobs, rounds] = [Number(jobsText), Number(roundsText)];
if (!url || !configuration || !(jobs > 0) || !(rounds > 0)) {
  console.error(`DATABASE_URL=… node graphile-worker.js JOBS ${Object.keys(CONFIGURATIONS).join("|")} [ROUNDS]`);
  process.exit(2);
}
const pool = new pg.Pool({ connectionString: url, max: configuration.maxPoolSize });
// Both ask for a listener; whatever breaks a connection also breaks its query, and that is not retried.
pool.on("error", (error) => fail(error.message));
pool.on("connect", (client) => client.on("error", (error) => fail(error.message)));
const options = {
  pgPool: pool,
  preset: { worker: configuration },
  // Its performance test logs no success either; what goes wrong ends this process.
  logger: new Logger(() => (level, message) => level === "error" && fail(message)),
};

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Queues jobs, with the planner told how many there are: on a table believed empty it reads all of it for each claim. */
async function queue(count) {
  const job = `('${TASK}', '{"order":4711}', null, null, null, null, null, null)::graphile_worker.job_spec`;
  await pool.query(
    `select count(*) from graphile_worker.add_jobs((select array_agg(${job}) from generate_series(1, $1)))`,
    [count],
  );
  await pool.query("vacuum analyze graphile_worker._private_jobs");
}

/** Completions are not awaited by the worker: the round ends when no connection is in use any more. */
async function settled() {
  while (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Jobs per second from the first job's start to the last one's completion in the database. */
async function round(count) {
  await queue(count);
  let [done, began] = [0, 0];
  const task = () => {
    began ||= performance.now();
    done += 1;
  };
  await runOnce(options, { [TASK]: task });
  await settled();
  const seconds = (performance.now() - began) / 1_000;
  const { rows } = await pool.query("select count(*)::int as left from graphile_worker.jobs");
  if (done !== count || rows[0].left > 0) fail(`${done} of ${count} jobs were run, ${rows[0].left} are left`);
  return count / seconds;
}

/** Jobs per second, each added by a statement and a transaction of its own. */
async function adds(count) {
  const utils = await makeWorkerUtils(options);
  let left = count;
  const began = performance.now();
  const client = async () => {
    while (left > 0) {
      left -= 1;
      await utils.addJob(TASK, { order: 4711 });
    }
  };
  await Promise.all(Array.from({ length: ADDING }, client));
  const seconds = (performance.now() - began) / 1_000;
  const { rowCount } = await pool.query("delete from graphile_worker._private_jobs");
  if (rowCount !== count) fail(`${rowCount} of ${count} jobs were added`);
  return count / seconds;
}

await runMigrations(options);
const measure = name === "adds" ? adds : round;
await measure(Math.ceil(jobs * WARM_SHARE));
for (let index = 0; index < rounds; index += 1) {
  console.log(await measure(jobs));
}
await pool.end();
