import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startServer, stopServer, type Server } from "./server";
import { BINARY, ROLES, STAGE_FILE, TENANTS, type Stage, type Tenant } from "./stage";

/** Results, the server's log, the stage. */
const OUTPUT = dirname(STAGE_FILE);

/** Starts one server for all specs, on a free port with a fresh data directory, and makes its people and tokens. */
export default async function setup(): Promise<() => Promise<void>> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run \`cargo xtask build\` first`);
  mkdirSync(OUTPUT, { recursive: true });
  const dataDir = mkdtempSync(join(tmpdir(), "shiftbook-e2e-"));
  const log = createWriteStream(join(OUTPUT, "server.log"));
  await once(log, "open");
  const server = await startServer(dataDir, undefined, log).catch((error: unknown) => {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  });
  try {
    const tenants = Object.fromEntries(TENANTS.map((tenant) => [tenant, populate(dataDir, tenant)])) as Stage["tenants"];
    const stage: Stage = { url: server.url, dataDir, tenants };
    writeFileSync(STAGE_FILE, JSON.stringify(stage, null, 2), { mode: 0o600 });
  } catch (error) {
    await stop(server, dataDir);
    throw error;
  }
  return () => stop(server, dataDir);
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

async function stop(server: Server, dataDir: string) {
  await stopServer(server);
  rmSync(dataDir, { recursive: true, force: true });
  rmSync(STAGE_FILE, { force: true });
}
