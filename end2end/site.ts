/** A server of one test, which kills it. Tests share their servers otherwise. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY, type Person } from "./environment";
import { startServer, stopServer, type Server } from "./server";

export class Site {
  readonly dataDir = mkdtempSync(join(tmpdir(), "shiftbook-site-"));
  url = "";
  /** A token of an admin. */
  token = "";
  private server: Server | undefined;

  /** Starts the server, at its earlier address if it had one. */
  async start() {
    this.server = await startServer(this.dataDir, this.url ? new URL(this.url).host : undefined);
    this.url = this.server.url;
  }

  /** Adds an operator for each name and a token of an admin to the workspace `acme`. */
  populate(...names: string[]): Person[] {
    const people = names.map((name) => ({ email: `${name}@acme.localhost`, password: randomBytes(15).toString("base64url") }));
    for (const { email, password } of people) {
      this.run(["user", "add", "--tenant", "acme", "--email", email, "--role", "operator", "--password-stdin"], password);
    }
    this.token = this.run(["token", "add", "--tenant", "acme", "--name", "robot", "--role", "admin"]).trim();
    return people;
  }

  /** Runs a command of the binary on the data of this server. */
  run(words: string[], input = ""): string {
    return execFileSync(BINARY, words, { env: { ...process.env, SHIFTBOOK_DATA_DIR: this.dataDir }, input, encoding: "utf8" });
  }

  /** Kills the server as a crash does. */
  async kill() {
    await stopServer(this.server!, "SIGKILL");
  }

  async restart() {
    await this.kill();
    await this.start();
  }

  /** Calls the API with the token. */
  async read<T>(path: string, method = "GET", body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${this.token}`, "content-type": "application/json" };
    const response = await fetch(`${this.url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  async end() {
    if (this.server) await stopServer(this.server);
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
