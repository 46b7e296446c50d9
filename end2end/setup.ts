import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { BINARY, ROLES, STAGE_FILE, TENANTS, type Stage, type Tenant } from "./stage";

/** Results, the server's log, the stage. */
const OUTPUT = dirname(STAGE_FILE);
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 15_000;

/** Starts one server for all specs, on a free port with a fresh data directory, and makes its people and tokens. */
export default async function setup(): Promise<() => Promise<void>> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run \`cargo xtask build\` first`);
  mkdirSync(OUTPUT, { recursive: true });
  const dataDir = mkdtempSync(join(tmpdir(), "shiftbook-e2e-"));
  const server = await start(dataDir).catch((error: unknown) => {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  });
  try {
    const tenants = Object.fromEntries(TENANTS.map((tenant) => [tenant, populate(dataDir, tenant)])) as Stage["tenants"];
    const stage: Stage = { url: server.url, dataDir, tenants };
    writeFileSync(STAGE_FILE, JSON.stringify(stage, null, 2), { mode: 0o600 });
  } catch (error) {
    await stop(server.process, dataDir);
    throw error;
  }
  return () => stop(server.process, dataDir);
}

async function start(dataDir: string): Promise<{ url: string; process: ChildProcess }> {
  const log = createWriteStream(join(OUTPUT, "server.log"));
  await once(log, "open");
  const server = spawn(BINARY, ["serve", "--listen", "127.0.0.1:0", "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  server.stderr.pipe(log);
  const lines = createInterface({ input: server.stdout });
  const late = AbortSignal.timeout(START_MS_MAX);
  const first = await Promise.race([
    once(lines, "line", { signal: late }).then(([line]) => String(line)),
    once(server, "exit", { signal: late }).then(([code]) => {
      throw new Error(`the server ended with ${code} before it listened; see target/e2e/server.log`);
    }),
  ]);
  const address = first.split(/\s+/).findLast((word) => word.includes(":"));
  if (!address) throw new Error(`the server's first line names no address: ${first}`);
  lines.on("line", (line) => log.write(`${line}\n`));
  const url = (address.startsWith("http") ? address : `http://${address}`).replace(/\/$/, "");
  return { url, process: server };
}

function populate(dataDir: string, tenant: string): Tenant {
  const run = (words: string[], input = "") =>
    execFileSync(BINARY, [...words, "--tenant", tenant], {
      env: { ...process.env, SHIFTBOOK_DATA_DIR: dataDir },
      input,
      encoding: "utf8",
    }).trim();
  const people = ROLES.map((role) => {
    const person = { email: `${role}@${tenant}.localhost`, password: randomBytes(15).toString("base64url") };
    run(["user", "add", "--email", person.email, "--role", role, "--password-stdin"], person.password);
    return [role, person];
  });
  const token = (name: string, ...words: string[]) => run(["token", "add", "--name", name, ...words]);
  return {
    people: Object.fromEntries(people) as Tenant["people"],
    tokens: {
      admin: token("e2e admin", "--role", "admin"),
      operator: token("e2e operator", "--role", "operator"),
      worker: token("e2e worker", "--role", "operator", "--scope", "worker"),
    },
  };
}

/** Only the process started here, by its own handle. */
async function stop(server: ChildProcess, dataDir: string) {
  if (server.exitCode === null && server.signalCode === null) {
    const ended = once(server, "exit");
    server.kill("SIGTERM");
    const impatience = setTimeout(() => server.kill("SIGKILL"), STOP_MS_MAX);
    await ended;
    clearTimeout(impatience);
  }
  rmSync(dataDir, { recursive: true, force: true });
  rmSync(STAGE_FILE, { force: true });
}
