/** A server of its own whose memory writer asks a scripted model. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Page } from "@playwright/test";
import { BINARY } from "./environment";
import { startServer, stopServer } from "./server";
import { expect } from "./support";

/** What the model answers: a text, or an error of its service. */
export type Answer = string | { status: number; error: string };

export interface WriterServer {
  url: string;
  tokens: { admin: string; worker: string };
  /** A request with a token. */
  send: <T>(token: string, method: string, path: string, body?: unknown) => Promise<T>;
  /**
   * A conversation with the agent that ends after one reply. Its first message has the sequence 2. `before` is called
   * before the end, with the sequences of all messages.
   */
  talked: (message: string, more?: string[], before?: (sequences: number[]) => void) => Promise<void>;
  signIn: (page: Page, role: "admin" | "reviewer") => Promise<void>;
  stop: () => Promise<void>;
}

/** A model that speaks the streamed OpenAI wire and gives the present answer. */
function startModel(answer: () => Answer): Promise<HttpServer> {
  const http = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const given = answer();
      if (typeof given !== "string") {
        response.writeHead(given.status, { "content-type": "text/plain; charset=utf-8" });
        response.end(given.error);
        return;
      }
      const chunk = (delta: object, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const usage = { id: "c", object: "chat.completion.chunk", choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } };
      response.end(`${chunk({ role: "assistant", content: given }, null)}${chunk({}, "stop")}data: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`);
    });
  });
  return new Promise((started) => http.listen(0, "127.0.0.1", () => started(http)));
}

/** Starts the server with an admin, a reviewer and tokens, and a writer for this agent of the workspace `acme`. */
export async function startWriterServer(agent: string, answer: () => Answer): Promise<WriterServer> {
  const model = await startModel(answer);
  const dataDir = mkdtempSync(join(tmpdir(), "shiftbook-e2e-memory-"));
  const settings = join(dataDir, "shiftbook.toml");
  const { port } = model.address() as AddressInfo;
  writeFileSync(
    settings,
    `[memory]\nwire = "openai"\nbase_url = "http://127.0.0.1:${port}/v1"\nmodel = "small"\n[memory.agents.${agent}]\nworkspace = "acme"\n`,
  );
  const server = await startServer(dataDir, undefined, undefined, ["--config", settings]);
  const password = randomBytes(15).toString("base64url");
  const run = (words: string[], input = "") =>
    execFileSync(BINARY, [...words, "--tenant", "acme"], { env: { ...process.env, SHIFTBOOK_DATA_DIR: dataDir }, input, encoding: "utf8" }).trim();
  for (const role of ["admin", "reviewer"]) run(["user", "add", "--email", `${role}@acme.localhost`, "--role", role, "--password-stdin"], password);
  const tokens = {
    admin: run(["token", "add", "--name", "admin", "--role", "admin"]),
    worker: run(["token", "add", "--name", "worker", "--role", "operator", "--scope", "worker"]),
  };

  async function send<T>(token: string, method: string, path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  async function talked(message: string, more: string[] = [], before?: (sequences: number[]) => void) {
    const thread = await send<{ id: string }>(tokens.admin, "POST", "/api/threads", { agent, message });
    for (const text of more) await send(tokens.admin, "POST", `/api/threads/${thread.id}/messages`, { text });
    const log = `/api/sessions/${thread.id}/events?eventTypes=user.message&limit=1000`;
    before?.((await send<{ events: { sequence: number }[] }>(tokens.admin, "GET", log)).events.map((event) => event.sequence));
    await send(tokens.worker, "POST", "/api/sessions/claim", { agentSlugs: [agent], leaseSeconds: 60 });
    await send(tokens.worker, "POST", `/api/sessions/${thread.id}/events`, { attempt: 1, events: [{ type: "agent.message", content: "Noted." }] });
    await send(tokens.worker, "POST", `/api/sessions/${thread.id}/yield`, { attempt: 1, status: "idle" });
    await send(tokens.admin, "POST", `/api/threads/${thread.id}/end`, { feedback: "skip" });
  }

  async function signIn(page: Page, role: "admin" | "reviewer") {
    await page.goto(`${server.url}/sign-in`);
    await page.locator('input[name="email"]').fill(`${role}@acme.localhost`);
    await page.locator('input[name="password"]').fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page).not.toHaveURL(/\/sign-in/);
  }

  async function stop() {
    await stopServer(server);
    model.close();
    rmSync(dataDir, { recursive: true, force: true });
  }

  return { url: server.url, tokens, send, talked, signIn, stop };
}
