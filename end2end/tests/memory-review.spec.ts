/** The memory writer with a scripted model: proposals reviewed by forms alone, a conflict, a batch, runs, forgetting. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server as HttpServer } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Page } from "@playwright/test";
import { BINARY } from "../environment";
import { startServer, stopServer, type Server } from "../server";
import { expect, expectNoAxeViolations, test } from "../support";

const AGENT = "gardener";
const PASSWORD = randomBytes(15).toString("base64url");

interface Item {
  id: string;
  title: string;
  kind: string;
}

let model: HttpServer;
let server: Server;
let dataDir: string;
let tokens: { admin: string; worker: string };
/** What the model answers next. */
let answer = "";

/** A model that speaks the streamed OpenAI wire and gives the present answer. */
function startModel(): Promise<HttpServer> {
  const http = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const chunk = (delta: object, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      const usage = { id: "c", object: "chat.completion.chunk", choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } };
      response.end(`${chunk({ role: "assistant", content: answer }, null)}${chunk({}, "stop")}data: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`);
    });
  });
  return new Promise((started) => http.listen(0, "127.0.0.1", () => started(http)));
}

const run = (words: string[], input = "") =>
  execFileSync(BINARY, [...words, "--tenant", "acme"], { env: { ...process.env, SHIFTBOOK_DATA_DIR: dataDir }, input, encoding: "utf8" }).trim();

async function send<T>(token: string, method: string, path: string, body?: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return (text ? JSON.parse(text) : undefined) as T;
}

const write = (path: string, text: string, baseVersion = 0) =>
  send<{ sha256: string }>(tokens.admin, "PUT", `/api/agents/${AGENT}/memory/document?path=${path}`, { baseVersion, text });
/** The newest text of a document; `null` as long as there is none. */
async function read(path: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${tokens.admin}` };
  const response = await fetch(`${server.url}/api/agents/${AGENT}/memory/document?path=${path}`, { headers });
  if (response.status === 404) return null;
  expect(response.status).toBe(200);
  return ((await response.json()) as { text: string }).text;
}

test.beforeAll(async () => {
  model = await startModel();
  dataDir = mkdtempSync(join(tmpdir(), "shiftbook-e2e-memory-"));
  const settings = join(dataDir, "shiftbook.toml");
  const { port } = model.address() as AddressInfo;
  writeFileSync(
    settings,
    `[memory]\nwire = "openai"\nbase_url = "http://127.0.0.1:${port}/v1"\nmodel = "small"\n[memory.agents.${AGENT}]\nworkspace = "acme"\n`,
  );
  server = await startServer(dataDir, undefined, undefined, ["--config", settings]);
  for (const role of ["admin", "reviewer"]) run(["user", "add", "--email", `${role}@acme.localhost`, "--role", role, "--password-stdin"], PASSWORD);
  tokens = {
    admin: run(["token", "add", "--name", "admin", "--role", "admin"]),
    worker: run(["token", "add", "--name", "worker", "--role", "operator", "--scope", "worker"]),
  };
});

test.afterAll(async () => {
  await stopServer(server);
  model.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function signIn(page: Page, role: "admin" | "reviewer") {
  await page.goto(`${server.url}/sign-in`);
  await page.locator('input[name="email"]').fill(`${role}@acme.localhost`);
  await page.locator('input[name="password"]').fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).not.toHaveURL(/\/sign-in/);
}

/** A conversation that ends, of which the model proposes these operations. Returns the proposals by title. */
async function proposed(message: string, ops: object[]): Promise<Map<string, string>> {
  const evidence = [{ session: "s1", sequence: 2 }];
  answer = JSON.stringify({ schema: 1, nothing: false, summary: null, ops: ops.map((op) => ({ heading: [], base_sha256: null, evidence, reason: "They said so.", ...op })) });
  const thread = await send<{ id: string }>(tokens.admin, "POST", "/api/threads", { agent: AGENT, message });
  await send(tokens.worker, "POST", "/api/sessions/claim", { agentSlugs: [AGENT], leaseSeconds: 60 });
  await send(tokens.worker, "POST", `/api/sessions/${thread.id}/events`, { attempt: 1, events: [{ type: "agent.message", content: "Noted." }] });
  await send(tokens.worker, "POST", `/api/sessions/${thread.id}/yield`, { attempt: 1, status: "idle" });
  await send(tokens.admin, "POST", `/api/threads/${thread.id}/end`, { feedback: "skip" });
  const waiting = async () => (await send<{ items: Item[] }>(tokens.admin, "GET", "/api/approvals?kind=memory&assignedTo=all&limit=1000")).items;
  await expect.poll(async () => (await waiting()).length).toBeGreaterThanOrEqual(ops.length);
  return new Map((await waiting()).map((item) => [item.title, item.id]));
}

const create = (path: string, line: string) => ({ op: "create", path, body: `# ${line.split(" ")[0]}\n\n- ${line}\n` });
const bar = (page: Page) => page.locator("#gate .gate-bar");

async function openItem(page: Page, id: string | undefined) {
  await page.goto(`${server.url}/inbox/${id}`);
  await expect(page.locator("#gate")).toHaveAttribute("data-id", id ?? "");
}

test("proposals are approved, edited, denied and decided together @nojs", async ({ page, javaScriptEnabled }, info) => {
  const of = `${info.project.name.replace(/[^a-z]+/g, "")}${info.retry}`;
  // With 0 a decision takes a second press where scripts run.
  await send(tokens.admin, "PATCH", "/api/workspace", { undoSeconds: 1 });
  const plan = `topics/plan-${of}.md`;
  const { sha256 } = await write(plan, "# Plan\n\n## Notes\n\n- Plant beans in the garden\n");
  const replace = { op: "replace_section", path: plan, heading: ["Notes"], base_sha256: sha256, body: "- Plant peas in the garden" };
  const words = ["Apples ripen early", "Barrels leak water", "Carrots grow slowly", "Dill smells nice", "Elder flowers bloom", "Ferns want shade"];
  const path = (at: number) => `topics/${words[at]?.split(" ")[0]?.toLowerCase()}-${of}.md`;
  const items = await proposed(`Our plan for the garden: ${words.join(", ")}, and peas.`, [...words.map((line, at) => create(path(at), line)), replace]);
  const id = (at: number) => items.get(`Memory: ${path(at)}`);
  await signIn(page, "reviewer");

  // Two are approved. Each line leads to the turn that it comes from.
  for (const at of [0, 1]) {
    await openItem(page, id(at));
    await expect(page.locator(".memory-change ins").last()).toContainText(words[at] ?? "");
    await expect(page.locator(".memory-turns a").first()).toHaveAttribute("href", /^\/sessions\/.+#seq-2$/);
    await expect(page.locator("#gate-form + *, .gate-head")).not.toHaveCount(0);
    await expect(page.locator(".gate-head")).toContainText("Expires");
    await bar(page).getByRole("button", { name: /^Approve/ }).click();
    await expect.poll(() => read(path(at))).toContain(words[at] ?? "");
  }
  // One is edited.
  await openItem(page, id(2));
  await page.locator("[name='value.body']").fill("# Carrots\n\n- Carrots grow quickly\n");
  await bar(page).getByRole("button", { name: /^Approve/ }).click();
  await expect.poll(() => read(path(2))).toBe("# Carrots\n\n- Carrots grow quickly\n");
  // One is denied, with a reason.
  await openItem(page, id(3));
  const deny = page.locator("#gate .gate-bar details, #gate .gate-bar", { hasText: "Deny…" }).first();
  await deny.getByText("Deny…").first().click();
  await page.locator("#gate textarea[name='note']").first().fill("Nobody needs that.");
  await page.getByRole("button", { name: "Deny", exact: true }).first().click();
  await expect.poll(async () => (await send<{ approval: { state: string } }>(tokens.admin, "GET", `/api/approvals/${id(3)}`)).approval.state).toBe("settled");

  // A conflict shows the newest version, and an edit of it is accepted.
  await write(plan, "# Plan\n\n## Notes\n\n- Plant corn in the garden\n", 1);
  const conflict = items.get(`Memory: ${plan}`);
  await openItem(page, conflict);
  await expect(page.getByRole("heading", { name: "The newest version beside the proposal" })).toBeVisible();
  await expect(page.locator(".memory-change").last().locator("del")).toContainText("corn");
  if (javaScriptEnabled) {
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      for (const colorScheme of ["light", "dark"] as const) {
        await expectNoAxeViolations(page, colorScheme);
        await page.screenshot({ path: info.outputPath(`conflict-${width}-${colorScheme}.png`), fullPage: true });
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
      expect(wide, "nothing is wider than the page").toBe(false);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  await page.locator("[name='value.body']").fill("# Plan\n\n## Notes\n\n- Plant corn and peas in the garden\n");
  await bar(page).getByRole("button", { name: /^Approve/ }).click();
  await expect.poll(() => read(plan)).toContain("corn and peas");

  // The two that are left are approved together.
  await page.goto(`${server.url}/inbox?select=1`);
  for (const at of [4, 5]) await page.locator(`#inbox-rows [data-id="${id(at)}"] input[type=checkbox]`).check();
  await page.locator("#inbox-batch-bar").getByRole("button", { name: /^Approve/ }).click();
  for (const at of [4, 5]) await expect.poll(() => read(path(at))).toContain(words[at] ?? "");
});

test("the page of runs has cost, settings and a button @nojs", async ({ page, javaScriptEnabled }, info) => {
  const of = `runs${info.project.name.replace(/[^a-z]+/g, "")}${info.retry}`;
  await proposed(`Zinnias for ${of}.`, [create(`topics/zinnias-${of}.md`, `Zinnias ${of} bloom`)]);
  await signIn(page, "admin");
  await page.goto(`${server.url}/agents/${AGENT}/memory/runs`);
  await expect(page.locator(".history-item").first()).toContainText("a conversation ended");
  await expect(page.getByText("Every change waits for a review.")).toBeVisible();
  if (javaScriptEnabled) {
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      for (const colorScheme of ["light", "dark"] as const) {
        await expectNoAxeViolations(page, colorScheme);
        await page.screenshot({ path: info.outputPath(`runs-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  }
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.getByText("The run begins within seconds.").first()).toBeVisible();
  await page.goto(`${server.url}/insights`);
  await expect(page.getByRole("heading", { name: "Memory writers" })).toBeVisible();
});

test("a person is forgotten after a look at what would go @nojs", async ({ page, javaScriptEnabled }, info) => {
  const of = `${info.project.name.replace(/[^a-z]+/g, "")}${info.retry}`;
  const person = `discord-1${of}`;
  await write(`people/${person}.md`, `# Quentin${of}\n\n- Likes kites\n`);
  await write(`topics/kites-${of}.md`, `# Kites\n\n- Quentin${of} flies them\n- Wind is needed\n`);
  await signIn(page, "admin");
  await page.goto(`${server.url}/memory`);
  await page.getByRole("link", { name: "Forget a person" }).click();
  await page.getByLabel("Person").fill(person);
  await page.getByRole("button", { name: "Show what is known" }).click();
  await expect(page.locator(".forget-document")).toHaveCount(2);
  await expect(page.locator(".forget-lines").last()).toContainText("names them");
  if (javaScriptEnabled) {
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      for (const colorScheme of ["light", "dark"] as const) {
        await expectNoAxeViolations(page, colorScheme);
        await page.screenshot({ path: info.outputPath(`forget-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  }
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  await expect(page.getByText("type the word forget")).toBeVisible();
  await page.getByLabel(/Type .forget. to erase/).fill("forget");
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  await expect(page.getByText("Erased. The digests of the texts are kept.")).toBeVisible();
  expect(await read(`topics/kites-${of}.md`)).toBe("# Kites\n\n- Wind is needed\n");
});
