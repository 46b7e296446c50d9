/**
 * Reading content of agents sends no request to another host. The browser's network log is the evidence: it lists
 * every name lookup and connection, including those that a page cannot observe.
 */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext, type LaunchOptions } from "@playwright/test";
import { triggerHandlers } from "../hostile";
import { api, expect, hydrated, signIn, environment, test } from "../support";

const tenant = "hostile";
/** Domain of all hosts in the content; it does not exist. */
const DOMAIN = "foreign.invalid";

let count = 0;
const at = (scheme = "http:") => `${scheme}//h${count++}.${DOMAIN}/x`;

/** Markup that makes a browser fetch, look up or connect. */
function fetching(): string[] {
  return [
    `![a picture](${at()})`,
    `![a picture](${at("")})`,
    `![](<${at()}.svg> "title")`,
    `[![nested](${at()})](${at()})`,
    `![by reference][p]\n\n[p]: ${at()}`,
    `<img src="${at()}">`,
    `<img srcset="${at()} 2x">`,
    `<picture><source srcset="${at()}"><img></picture>`,
    `<link rel="stylesheet" href="${at()}">`,
    `<link rel="dns-prefetch" href="${at("")}">`,
    `<link rel="preconnect" href="${at()}">`,
    `<link rel="prefetch" href="${at()}">`,
    `<link rel="modulepreload" href="${at()}">`,
    `<link rel="icon" href="${at()}">`,
    `<style>@import "${at()}"; @font-face { font-family: x; src: url(${at()}); } * { background: url(${at()}); font-family: x; }</style>`,
    `<p style="background: url(${at()})">x</p>`,
    `<table background="${at()}"><tr><td>x</td></tr></table>`,
    `<body background="${at()}">`,
    `<video poster="${at()}" src="${at()}" autoplay></video>`,
    `<audio src="${at()}" autoplay></audio>`,
    `<iframe src="${at()}"></iframe>`,
    `<object data="${at()}"></object>`,
    `<embed src="${at()}">`,
    `<script src="${at()}"></script>`,
    `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${at()}"]}]}</script>`,
    `<svg><image href="${at()}"/><use href="${at()}#x"/><feImage href="${at()}"/></svg>`,
    `<meta http-equiv="refresh" content="0;url=${at()}">`,
    `<base href="${at()}">`,
    `<form action="${at()}"><button autofocus>x</button></form>`,
    `<a href="${at()}" ping="${at()}">a link with a ping</a>`,
    `[a link](${at()}) and ${at()} and <${at()}>`,
    `\\\\h${count++}.${DOMAIN}\\share`,
    `"><img src=${at()}>`,
    `</textarea><img src=${at()}>`,
    `</script><img src=${at()}>`,
  ];
}

/** Creates a session, a record and an inbox item with this markup. */
async function fill() {
  const operator = api("operator", tenant);
  const content = fetching();
  const agentSlug = `fetching-${Date.now().toString(36)}`;
  const type = await operator.post<{ id: string }>("/api/entity-types", { name: agentSlug, fields: [{ slug: "note", name: "Note", type: "text" }] });
  const record = await operator.post<{ id: string }>("/api/entities", { typeId: type.id, title: content[5], fields: { note: content.join("\n") } });
  const action = await operator.createAction({
    name: content[0]!.slice(0, 200),
    slug: agentSlug,
    description: content.join("\n"),
    agentSlug,
    targetEntityId: record.id,
    outputType: "entity",
    metadata: { requiresApproval: true },
  });
  const session = await operator.trigger(action.id, { content });
  const { attempt } = await operator.claim(agentSlug);
  const events = content.flatMap((words, n) => [
    { type: "agent.message", content: [{ type: "text", text: words }, { type: "image", image: at(), url: at() }, { type: "file", url: at(), mediaType: "image/png" }] },
    { type: "agent.thinking", content: [{ type: "reasoning", text: words }] },
    { type: "agent.tool_call", content: [{ type: "tool-call", toolCallId: `c${n}`, toolName: words, input: { words } }] },
    { type: "agent.tool_result", content: [{ type: "tool-result", toolCallId: `c${n}`, toolName: words, output: words }] },
    { type: "external.event", content: [], metadata: { source: words, message: words, image: at() } },
  ]);
  await operator.append(session.id, attempt, events);
  await operator.complete(session.id, attempt, { note: content.join("\n") });
  const { items } = await operator.get<{ items: { id: string; sessionId: string }[] }>("/api/approvals?assignedTo=all&limit=500");
  const item = items.find((approval) => approval.sessionId === session.id)!;
  return [`/sessions/${session.id}`, `/inbox/${item.id}`, `/entities/${record.id}`, `/actions/${action.id}`, "/sessions", "/today"];
}

/** Opens all pages, unfolds them and moves the pointer over every link. */
async function read(context: BrowserContext, paths: string[]) {
  const requested: string[] = [];
  context.on("request", (request) => requested.push(request.url()));
  const page = await context.newPage();
  await signIn(page, "admin", tenant);
  for (const path of paths) {
    await page.goto(path, { waitUntil: "load" });
    await hydrated(page);
    await triggerHandlers(page);
    for (const link of (await page.locator(`main a[href*="${DOMAIN}"]:visible`).all()).slice(0, 5)) await link.hover();
  }
  return requested.filter((url) => !url.startsWith(environment().url) && !/^(data|blob|about):/.test(url));
}

test("reading a transcript makes no request to another host, nor asks for its name", async ({ launchOptions }) => {
  test.slow();
  const folder = mkdtempSync(join(tmpdir(), "shiftbook-netlog-"));
  const log = join(folder, "net.json");
  // All names resolve to this server, so that attempted connections succeed.
  let connections = 0;
  const sink = createServer((socket) => {
    connections++;
    socket.destroy();
  }).listen(0, "127.0.0.1");
  await once(sink, "listening");
  const port = (sink.address() as AddressInfo).port;
  const options: LaunchOptions = {
    ...launchOptions,
    args: [...(launchOptions.args ?? []), `--log-net-log=${log}`, `--host-resolver-rules=MAP *.${DOMAIN} 127.0.0.1:${port}`],
  };
  const browser = await chromium.launch(options);
  try {
    const paths = await fill();
    const foreign: string[] = [];
    // With the content security policy as served, and without it, where only escaping prevents requests.
    for (const bypassCSP of [false, true]) {
      const context = await browser.newContext({ baseURL: environment().url, bypassCSP });
      foreign.push(...(await read(context, paths)));
      await context.close();
    }
    expect(foreign).toEqual([]);
    expect(connections).toBe(0);

    // The counters work: a page that does fetch is seen in all three of them.
    const planted = `planted.${DOMAIN}`;
    const page = await browser.newPage();
    const request = page.waitForRequest(`http://${planted}/x`);
    await page.setContent(`<link rel="dns-prefetch" href="//looked-up.${DOMAIN}"><img src="http://${planted}/x">`);
    await request;
    await expect.poll(() => connections).toBeGreaterThan(0);
  } finally {
    await browser.close();
    sink.close();
  }
  const hosts = new Set(readFileSync(log, "utf8").match(new RegExp(`[a-z0-9-]+\\.${DOMAIN.replace(".", "\\.")}`, "g")));
  rmSync(folder, { recursive: true, force: true });
  expect([...hosts].filter((host) => /^h\d+\./.test(host))).toEqual([]);
  expect([...hosts]).toContain(`planted.${DOMAIN}`);
});
