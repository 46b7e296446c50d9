import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FullConfig } from "@playwright/test";
import { startServer, stopServer, type Server } from "./server";
import { BINARY, OUTPUT, REDIRECT_HOST, ROLES, environmentFile, TENANTS, type Environment, type Tenant } from "./environment";

/** Sets up a test environment for each worker, and removes all of them at the end. */
export default async function setup({ workers }: FullConfig): Promise<() => Promise<void>> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} does not exist: run \`cargo xtask build\` first`);
  mkdirSync(OUTPUT, { recursive: true });
  const environments: (() => Promise<void>)[] = [];
  const takeDown = async () => void (await Promise.all(environments.map((end) => end())));
  try {
    for (let worker = 0; worker < workers; worker += 1) environments.push(await startEnvironment(worker));
  } catch (error) {
    await takeDown();
    throw error;
  }
  return takeDown;
}

/**
 * Starts a server on a free port with a new data directory, and creates its people and tokens. Returns the
 * teardown.
 */
async function startEnvironment(worker: number): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), "shiftbook-e2e-"));
  const log = createWriteStream(join(OUTPUT, `server-${worker}.log`));
  await once(log, "open");
  const settings = join(dataDir, "shiftbook.toml");
  // All tests open forms from the same address.
  const forms = `[forms]\nredirect_hosts = ["${REDIRECT_HOST}"]\nrequests_per_minute = 10000\n`;
  // Specs start services on this machine, which tools call.
  const outbound = `[outbound]\nallow_private = ["127.0.0.1"]\n`;
  writeFileSync(settings, `${forms}\n${outbound}`, { mode: 0o600 });
  const server = await startServer(dataDir, undefined, log, ["--config", settings]).catch((error: unknown) => {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  });
  const end = () => stop(server, dataDir, environmentFile(worker));
  try {
    const tenants = Object.fromEntries(TENANTS.map((tenant) => [tenant, populate(dataDir, tenant)])) as Environment["tenants"];
    const environment: Environment = { url: server.url, dataDir, tenants };
    writeFileSync(environmentFile(worker), JSON.stringify(environment, null, 2), { mode: 0o600 });
  } catch (error) {
    await end();
    throw error;
  }
  return end;
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

async function stop(server: Server, dataDir: string, environmentFile: string) {
  await stopServer(server);
  rmSync(dataDir, { recursive: true, force: true });
  rmSync(environmentFile, { force: true });
}
