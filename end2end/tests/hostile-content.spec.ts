/**
 * No script from stored content runs. Every field that people and agents can write is filled with payloads, and
 * every page that shows them is visited in Chromium, with and without its content security policy.
 */
import { type BrowserContext, type Locator, type Page } from "@playwright/test";
import { generated, joined, line, look, picked, triggerHandlers, forbiddenElements, visit, visitExisting, watch } from "../hostile";
import { api, cookieOf, expect, hydrated, signIn, environment, test, type NewEvent } from "../support";
import { postAs } from "../working";

const SEED = 20_261_121;
const IS_LONG = !!process.env.SHIFTBOOK_HOSTILE;
/** Number of generated payloads in transcripts, each in a text of its own. */
const GENERATED = IS_LONG ? 10_000 : 250;
const TEXTS_OF_EVENT = 25;
const EVENTS_OF_PAGE = 200;

const tenant = "hostile";
/** A failed test is repeated in a new process, so its data has unique names. */
const run = Date.now().toString(36);
/** An agent without a worker. */
const IDLE = `idle-${run}`;
const token = () => api("operator", tenant);

const text = (words: string) => ({ type: "text", text: words });

/** Events with this payload in every field, for every kind that a worker can write. */
function everywhere(payload: string, at: number): NewEvent[] {
  const call = `call-${at}-${payload}`;
  const name = payload;
  const note = { title: payload, message: payload, source: payload, field: payload, name: payload, step: payload, code: payload, [payload]: payload };
  return [
    { type: "agent.message", content: [text(payload)] },
    { type: "agent.thinking", content: [{ type: "reasoning", text: payload }] },
    { type: "agent.tool_call", content: [{ type: "tool-call", toolCallId: call, toolName: name, input: { [payload]: payload } }] },
    {
      type: "agent.tool_result",
      content: [{ type: at % 2 ? "tool-result" : "tool-error", toolCallId: call, toolName: name, output: at % 3 ? { message: payload } : payload }],
    },
    { type: "external.event", content: [], metadata: note },
    { type: "tool.field_changed", content: [{ type: payload, [payload]: payload }], metadata: note },
    { type: "state.patch", content: [text(payload)], metadata: note },
    { type: "session.error", content: [text(payload)], metadata: note },
    { type: "acme.custom", content: [text(payload), { type: "file", url: payload }], metadata: note },
  ];
}

/** The content is created once for both visits. */
interface Made {
  /** Paths of the pages that show it. */
  paths: string[];
  open: { session: string; attempt: number; agentSlug: string };
  /** A conversation whose agent is working. */
  talk: { id: string; attempt: number };
  type: string;
  gates: string[];
  memory: Memories;
}

let made: Promise<Made> | undefined;

async function transcript(agentSlug: string) {
  const operator = token();
  const action = await operator.createAction({ name: line(picked[0]!), agentSlug });
  const session = await operator.trigger(action.id);
  const { attempt } = await operator.claim(agentSlug, 3600);
  const events = picked.flatMap(everywhere);
  const payloads = generated(GENERATED, SEED);
  for (let at = 0; at < payloads.length; at += TEXTS_OF_EVENT) {
    events.push({ type: "agent.message", content: payloads.slice(at, at + TEXTS_OF_EVENT).map(text) });
  }
  for (let at = 0; at < events.length; at += EVENTS_OF_PAGE) await operator.append(session.id, attempt, events.slice(at, at + EVENTS_OF_PAGE));
  const { headSequence } = (await operator.session(session.id)) as unknown as { headSequence: number };
  const paths = [];
  for (let before = headSequence + 1; before > 1; before -= EVENTS_OF_PAGE) paths.push(`/sessions/${session.id}?before=${before}`);
  return { paths, open: { session: session.id, attempt, agentSlug } };
}

/** Creates a task, a session and a failure for every payload: titles in lists, errors on Today. */
async function titles(assignedTo: string) {
  const operator = token();
  const paths: string[] = [];
  for (const [at, payload] of picked.entries()) {
    const agentSlug = at % 2 ? `failing-${run}` : IDLE;
    const action = await operator.createAction({ name: line(payload), slug: `title-${at}-${run}`, description: payload, agentSlug, assignedTo });
    if (agentSlug === IDLE) continue;
    const session = await operator.trigger(action.id, { [payload]: payload });
    const { attempt } = await operator.claim(agentSlug);
    await operator.fail(session.id, attempt, payload);
    if (at % 25 === 1) paths.push(`/sessions/${session.id}`, `/actions/${action.id}`);
  }
  return paths;
}

/** Creates a type with payloads as labels, a record full of them, and a second version of it. */
async function records() {
  const operator = token();
  const fields = picked.slice(0, 48).map((payload, at) =>
    at % 4
      ? { slug: `f${at}`, name: line(payload), type: "text" }
      : { slug: `f${at}`, name: line(payload), type: "select", options: [line(picked[at + 1]!), line(picked[at + 2]!)] },
  );
  const type = await operator.post<{ id: string; slug: string }>("/api/entity-types", { name: line(picked[8]!), slug: `record-${run}`, fields });
  const chunks = joined(generated(48 * 20, SEED + 1), 20);
  const values = (turn: number) =>
    Object.fromEntries(fields.map((field, at) => [field.slug, field.options ? field.options[turn]! : chunks[(at + turn) % chunks.length]!.slice(0, 9_000)]));
  const record = await operator.post<{ id: string }>("/api/entities", { typeId: type.id, title: line(picked[9]!), fields: values(0) });
  await operator.send("PATCH", `/api/entities/${record.id}`, { version: 1, title: line(picked[10]!), fields: values(1) });
  for (const payload of picked) await operator.post("/api/entities", { typeId: type.id, title: line(payload) });
  return { type, record, values, paths: [`/entities/${record.id}`, `/entities?type=record-${run}`, `/entity-types/${type.id}`] };
}

type Records = Awaited<ReturnType<typeof records>>;

/** Creates inbox items of every kind, and criteria with payloads as texts. */
async function gates({ record, values }: Records) {
  const operator = token();
  const labels = picked.map(line);
  const set = await operator.post<{ id: string }>("/api/criteria-sets", {
    name: labels[11]!,
    slug: `set-${run}`,
    description: joined(picked, picked.length)[0]!,
    dimensions: labels.slice(0, 40).map((name, at) => ({
      slug: `d${at}`,
      name,
      description: picked[at + 40],
      type: "select",
      options: [
        { value: labels[at + 1]!, label: labels[at + 2]!, style: "caution", score: 0.5 },
        { value: `${at} blocks`, label: labels[at + 3]!, style: "negative", hardBlock: true },
      ],
    })),
  });
  const agentSlug = `asking-${run}`;
  const action = await operator.createAction({
    name: labels[12]!,
    slug: `output-${run}`,
    agentSlug,
    targetEntityId: record.id,
    outputType: "entity",
    outputConfig: { criteria_set_ids: [set.id] },
    metadata: { requiresApproval: true },
  });
  const judged = Object.fromEntries(labels.slice(0, 40).map((_, at) => [`d${at}`, labels[at + 1]!]));
  const waits = async (park: (session: string, attempt: number) => Promise<unknown>, of = action.id) => {
    const session = await operator.trigger(of);
    const { attempt } = await operator.claim(agentSlug);
    await park(session.id, attempt);
  };
  for (let turn = 0; turn < 4; turn++) {
    await waits((session, attempt) => operator.complete(session, attempt, { title: labels[turn + 13]!, ...values(turn % 2), ...judged }));
  }
  const asks = await operator.createAction({ name: labels[14]!, slug: `asking-${run}`, agentSlug });
  for (const [at, words] of joined(picked, 12).entries()) {
    const pausedToolCall = { toolCallId: `${at}`, toolName: line(words), toolInput: Object.fromEntries(picked.slice(at * 10, at * 10 + 20).map((p) => [p, p])) };
    await waits((session, attempt) => operator.post(`/api/sessions/${session}/yield`, { attempt, status: "awaiting_tool", pausedToolCall }), asks.id);
    const properties = Object.fromEntries(picked.slice(at, at + 8).map((p, n) => [n ? `k${n}` : p, { type: "string", title: p, description: p, enum: n % 2 ? [p, `${p} `] : undefined }]));
    const question = { message: words, schema: at % 2 ? { type: "object", title: words, properties } : undefined };
    await waits((session, attempt) => operator.post(`/api/sessions/${session}/yield`, { attempt, status: "waiting_human", question }), asks.id);
  }
  const { items } = await operator.get<{ items: { id: string; kind: string }[] }>("/api/approvals?assignedTo=all&limit=500");
  const some = (kind: string, count: number) => items.filter((item) => item.kind === kind).slice(0, count);
  const open = [...some("output", 2), ...some("tool", 2), ...some("question", 2)].map((item) => item.id);
  return { gates: open, paths: ["/inbox", "/inbox?assignedTo=all", ...open.map((id) => `/inbox/${id}`), "/criteria-sets", `/criteria-sets/${set.id}`] };
}

/** Creates conversations of the visitor: idle, with a failed turn, ended, and running. */
async function conversations(context: Record<string, string>) {
  const operator = token();
  const agentSlug = `talking-${run}`;
  await operator.createAction({ name: line(picked[15]!), slug: agentSlug, agentSlug });
  const send = async <T>(path: string, body: object) => {
    const headers = { ...context, origin: environment().url, "content-type": "application/json" };
    const response = await fetch(`${environment().url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const begun = async (title: string) => {
    const { id } = await send<{ id: string }>("/api/threads", { agent: agentSlug, title: line(title), message: picked.join("\n") });
    const { attempt } = await operator.claim(agentSlug, 3600);
    return { id, attempt };
  };
  const rests = async (title: string) => {
    const talk = await begun(title);
    const replies = joined(picked, 40).map((words) => ({ type: "agent.message", content: [text(words)] }));
    await operator.append(talk.id, talk.attempt, [...picked.slice(0, 20).flatMap(everywhere), ...replies]);
    await operator.post(`/api/sessions/${talk.id}/yield`, { attempt: talk.attempt, status: "idle" });
    return talk.id;
  };
  const idle = await rests(picked[16]!);
  const failed = await begun(picked[17]!);
  await operator.fail(failed.id, failed.attempt, picked.join(" ").slice(0, 4_000));
  const ended = await rests(picked[18]!);
  await send(`/api/threads/${ended}/end`, {});
  const talk = await begun(picked[19]!);
  return { talk, paths: ["/chat", ...[idle, failed.id, ended, talk.id].map((id) => `/chat/${id}`), `/sessions/${ended}`] };
}

/** A text as a memory document may hold it: without control characters. */
const kept = (words: string) => words.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, " ");

/** Creates conversations on a channel of every kind, with payloads as names of channels and of who writes there. */
async function channels(agent: string) {
  const operator = token();
  const kinds = ["text", "thread", "forum_post", "dm", "group_dm", "voice", "stage", "forum_root", "category"];
  const said: { session: string; sequence: number }[] = [];
  for (const [at, kind] of kinds.entries()) {
    const channel = { platform: "discord", id: `${at}`, name: line(picked[at]!), parent: line(picked[at + 20]!), kind };
    const { id } = await operator.post<{ id: string }>("/api/threads", { agent, channel });
    const author = { platform: "discord", id: line(picked[at + 40]!), name: line(picked[at + 60]!) };
    const { sequence } = await operator.post<{ sequence: number }>(`/api/threads/${id}/messages`, { text: picked.join("\n"), author });
    said.push({ session: id, sequence });
  }
  return said;
}

/** Creates a character card and memory documents of two versions with payloads in all of their texts. */
async function memories() {
  const operator = token();
  const agent = `keeper-${run}`;
  const said = await channels(agent);
  const all = kept(picked.join("\n"));
  const texts = picked.map(kept);
  const book = { name: texts[0], description: all, extensions: {}, entries: [{ keys: texts.slice(0, 9), content: all, extensions: {}, enabled: true, insertion_order: 1, name: texts[1], comment: texts[2] }] };
  const fields = ["description", "personality", "scenario", "first_mes", "mes_example", "creator_notes", "system_prompt", "post_history_instructions", "creator", "character_version"];
  const data = { ...Object.fromEntries(fields.map((field) => [field, all])), name: line(picked[3]!), alternate_greetings: texts, tags: texts, character_book: book, extensions: { [picked[4]!]: picked[5] } };
  const card = { spec: "chara_card_v2", spec_version: "2.0", data };
  await operator.send("PUT", `/api/agents/${agent}/card`, card);

  const paragraphs = [...picked, ...generated(250, SEED + 2)].map(kept);
  const headed = (words: string, at: number) => (at % 12 ? words : `## ${line(words)}\n\n${words}`);
  const documents: Record<string, string[]> = {
    "topics/hostile.md": [paragraphs.map(headed).join("\n\n"), paragraphs.toReversed().map(headed).join("\n\n")],
    "people/discord-7.md": [`# ${line(picked[6]!)}\n\n## Aliases\n\n- ${line(picked[7]!)}\n`, `# ${line(picked[6]!)}\n\n## Aliases\n\n${texts.map((words) => `- ${line(words)}\n`).join("")}`],
    "sessions/2026-11-25-evening.md": [`---\ntags: ${line(picked[8]!)}\n---\n${all}\n`, `---\ntags: ${line(picked[9]!)}\n---\n${all}\n${all}\n`],
  };
  for (const [path, versions] of Object.entries(documents)) {
    for (const [baseVersion, words] of versions.entries()) {
      const evidence = said.map((turn, at) => ({ line: at + 1, ...turn })).slice(0, words.trimEnd().split("\n").length);
      const body = { baseVersion, text: words, reason: line(picked[baseVersion + 10]!), evidence };
      await operator.send("PUT", `/api/agents/${agent}/memory/document?path=${path}`, body);
    }
  }
  const home = `/agents/${agent}/memory`;
  const shown = [...Object.keys(documents), "self/name.md", "self/description.md", "self/alternate_greetings.md", "self/character_book.md", "self/card_fields.md"];
  const views = shown.flatMap((path) => ["", "&view=history", "&view=origin", "&view=edit"].map((view) => `${home}?path=${path}${view}`));
  const others = ["/memory", "/memory?q=ran", "/agents", `/agents/${agent}`, home, `${home}?q=ran`, `${home}/runs`, `${home}/session?id=${said[0]!.session}`, "/memory/forget", "/memory/forget?person=discord-7"];
  return { agent, card, paths: [...others, ...views, ...said.map(({ session }) => `/sessions/${session}`)] };
}

type Memories = Awaited<ReturnType<typeof memories>>;

/** Creates captured answers with labels, so that an export has rows to show. */
async function answers() {
  const operator = token();
  const agentSlug = `answering-${run}`;
  for (const words of joined(picked, 8)) {
    const { id } = await operator.post<{ id: string }>("/api/sessions", { sessionType: "agent", agentSlug, title: line(words), input: words });
    const { attempt } = await operator.claim(agentSlug);
    await operator.complete(id, attempt, words);
    let items: { id: string }[] = [];
    await expect.poll(async () => (({ items } = await operator.get<{ items: { id: string }[] }>(`/api/interactions?sessionId=${id}`)), items.length)).toBeGreaterThan(0);
    await operator.post(`/api/interactions/${items[0]!.id}/feedback`, { feedback: "positive" });
  }
}

/** Creates groups, tokens and webhooks with payloads as names. */
async function settings() {
  const admin = api("admin", tenant);
  for (const [at, name] of picked.map(line).slice(0, 30).entries()) await admin.post("/api/groups", { name, slug: `g-${at}-${run}` });
  await admin.post("/api/webhooks", { url: `https://hooks.example/?${encodeURIComponent(picked[0]!)}&"'>`, events: ["session.failed"] });
}

async function fill(): Promise<Made> {
  // For requests about the signed-in person.
  const context = { cookie: await cookieOf("admin", tenant) };
  const me = (await (await fetch(`${environment().url}/api/me`, { headers: context })).json()) as { user: { id: string } };
  const log = await transcript(`talker-${run}`);
  const failed = await titles(me.user.id);
  const filled = await records();
  const waiting = await gates(filled);
  await settings();
  const talks = await conversations(context);
  await answers();
  const memory = await memories();
  const lists = ["/insights", "/export", "/today", "/today?bucket=failed", "/today?bucket=delegatable", "/sessions", "/sessions?status=failed", "/actions", "/working-on", "/settings", "/api/docs"];
  const paths = [...log.paths, ...failed, ...filled.paths, ...waiting.paths, ...talks.paths, ...memory.paths, ...lists];
  return { paths, open: log.open, talk: talks.talk, type: filled.type.id, gates: waiting.gates, memory };
}

/** Pages of one object, and texts of memory documents. The object's name or its text is a payload. */
const OF_ONE_OBJECT = /^\/(sessions|actions|entities|entity-types|criteria-sets|inbox|chat)\/[0-9a-f-]{36}|\/memory\?path=topics[^&]*$/;

/** Texts in an address that its page shows. */
const reflected = joined(picked, 6, " ").flatMap((payload) => {
  const words = encodeURIComponent(payload);
  return [`/sessions?q=${words}`, `/nowhere/${words}`];
});
const elsewhere = joined(picked, 40, " ").flatMap((payload) => {
  const words = encodeURIComponent(payload);
  const memory = [`/memory?q=${words}`, `/agents/${IDLE}/memory?path=${words}&view=${words}`, `/agents/${IDLE}/memory?q=${words}`, `/memory/forget?person=${words}`];
  return [...memory, `/today?notice=${words}&bucket=${words}`, `/inbox?state=${words}&open=${words}&select=${words}`, `/entities?type=${words}`, `/actions?target=${words}`, `/sign-in?next=${words}`];
});

/** New rows of an open transcript and an open inbox. */
async function live(page: Page, seen: string[], { open, talk }: Made) {
  await page.goto(`/sessions/${open.session}`);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const events = picked.slice(0, 15).flatMap((payload, at) => everywhere(payload, 1_000 + at));
  const last = `all of it ${Date.now()}`;
  await token().append(open.session, open.attempt, [...events, { type: "agent.message", content: [text(last)] }]);
  await expect(page.getByText(last, { exact: true })).toBeAttached({ timeout: 30_000 });
  await look(page, seen, "a transcript that goes on");

  await page.goto(`/chat/${talk.id}`);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const reply = `all was said ${Date.now()}`;
  await token().append(talk.id, talk.attempt, [{ type: "agent.message", content: [text(`${picked.join("\n\n")}\n\n${reply}`)] }]);
  await expect(page.locator("#conversation").getByText(reply)).toBeAttached({ timeout: 30_000 });
  await look(page, seen, "a conversation that goes on");

  await page.goto("/inbox");
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const agentSlug = `late-${run}`;
  const action = await token().createAction({ name: line(picked[20]!), agentSlug });
  const session = await token().trigger(action.id);
  const { attempt } = await token().claim(agentSlug);
  const question = { message: `${Date.now()} ${picked.join(" ")}`.slice(0, 2_000) };
  await token().post(`/api/sessions/${session.id}/yield`, { attempt, status: "waiting_human", question });
  await expect(page.locator(`#inbox-rows [data-session="${session.id}"]`)).toBeAttached();
  await look(page, seen, "an inbox that goes on");
}

/** Sets the value at once: real key presses take Chromium most of a minute for each field of such long pages. */
const put = (fields: Locator, words: string) =>
  fields.evaluateAll((all, words) => {
    for (const field of all as HTMLTextAreaElement[]) {
      field.value = words;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }, words);

/** A refused form restores what was typed; a search shows its text. */
async function typed(page: Page, seen: string[], { gates, type, memory }: Made) {
  await page.goto(`/inbox/${gates[0]}`);
  await hydrated(page);
  await put(page.locator("#gate-form textarea"), picked.join("\n"));
  await page.locator('.gate-bar summary[data-key="deny"]').click();
  await put(page.locator('.gate-bar [name="note"]'), picked.join("\n").slice(0, 5_000));
  await page.locator('.gate-bar button[value="deny"]').click();
  await expect(page.locator("#inbox-rows [data-reason]:not([hidden])").first()).toBeAttached();
  await look(page, seen, "a refused decision");

  await page.goto("/sessions");
  await hydrated(page);
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("combobox", { name: /^Go to a page, run a command/ }).fill("ran");
  await expect(page.locator("#palette-list")).toContainText("ran()");
  await look(page, seen, "the palette");

  await page.goto(`/entity-types/${type}/import`);
  const rows = picked.map((payload) => `"${payload.replaceAll('"', '""')}"`);
  await put(page.locator('textarea[name="source"]'), `title,"${line(picked[3]!).replaceAll('"', '""')}"\n${rows.map((row) => `${row},${row}`).join("\n")}`);
  await page.getByRole("button", { name: "Preview" }).click();
  await look(page, seen, "the preview of an import");

  await page.goto("/bundles");
  await put(page.locator('textarea[name="source"]'), JSON.stringify({ name: picked[0], description: picked.join("\n"), groups: [{ slug: "a", name: line(picked[1]!) }, { slug: picked[2], name: "" }] }));
  await page.getByRole("button", { name: "Preview" }).click();
  await look(page, seen, "the preview of a bundle");

  await page.goto("/export");
  await page.locator('select[name="minFeedback"]').selectOption("positive");
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await expect(page.locator(".export-pairs")).toContainText("ran()");
  await look(page, seen, "the preview of an export");

  await page.goto(`/agents/${IDLE}`);
  await page.locator("summary", { hasText: "Give it a card" }).click();
  const buffer = Buffer.from(JSON.stringify(memory.card));
  await page.locator('input[name="card"]').setInputFiles({ name: "card.json", mimeType: "application/json", buffer });
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("heading", { name: "Preview of the card" })).toBeVisible();
  await look(page, seen, "the preview of a card");

  await page.goto(`/agents/${memory.agent}/memory?path=topics/hostile.md&view=edit`);
  await put(page.locator('textarea[name="text"]'), kept(picked.join("\n\n")));
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.locator(".memory-diff ins").first()).toBeAttached();
  await look(page, seen, "the preview of a memory document");

  await page.goto("/actions#new");
  const form = page.locator('form[method="post"][action="/actions"]');
  await form.evaluate((element) => element.closest("details")?.setAttribute("open", ""));
  await put(form.locator("input[type=text], textarea"), picked.join(" "));
  await form.evaluate((element) => (element as HTMLFormElement).submit());
  await page.waitForURL(/\/actions$/);
  await look(page, seen, "a refused action");
}

/** Markers that a person writes, and the task's name in the picker. */
async function working(page: Page, seen: string[]) {
  const context: BrowserContext = page.context();
  const action = await token().createAction({ name: line(picked[30]!), agentSlug: IDLE });
  const { session } = await postAs<{ session: { id: string } }>(context, "/api/sessions/human/start", { taskId: action.id });
  const marker = (payload: string) => ({ id: crypto.randomUUID(), type: "human.marker", content: [text(payload)], metadata: { at: new Date().toISOString() } });
  await postAs(context, `/api/sessions/${session.id}/events`, { events: picked.map(marker) });
  await visitExisting(page, seen, "/working-on");
  await visitExisting(page, seen, `/sessions/${session.id}`);
  await postAs(context, "/api/sessions/human/stop", { sessionId: session.id });
}

for (const bypassCSP of [false, true]) {
  test.describe(bypassCSP ? "without the content security policy" : "as it is served", () => {
    // Without its own limit, an action that cannot be performed would block until the test times out.
    test.use({ bypassCSP, actionTimeout: 60_000 });

    test("no script from stored content runs", async ({ page, context }) => {
      test.setTimeout(1_200_000);
      made ??= fill();
      const content = await made;
      const seen = await watch(context);
      await signIn(page, "admin", tenant);
      const step = (name: string, work: () => Promise<void>) => test.step(name, work);
      await step("pages", async () => {
        for (const path of content.paths) {
          await visitExisting(page, seen, path, !path.startsWith("/api"));
          if (OF_ONE_OBJECT.test(path)) await expect(page.locator("main"), path).toContainText("ran()");
        }
      });
      await step("live", () => live(page, seen, content));
      await step("typed", () => typed(page, seen, content));
      await step("working", () => working(page, seen));
      await step("addresses", async () => {
        for (const path of [...reflected, ...elsewhere]) await visit(page, seen, path, false);
      });
    });

    test("what watches would see a script that runs", async ({ page, context }) => {
      const seen = await watch(context);
      const body = "<!doctype html><title>x</title><main><img src=x onerror=ran()><p onmouseover=ran()>x</p></main>";
      const headers = { "content-security-policy": "default-src 'none'" };
      await context.route("**/planted", (route) => route.fulfill({ contentType: "text/html", body, headers }));
      await page.goto(`${environment().url}/planted`);
      await triggerHandlers(page);
      expect((await forbiddenElements(page)).length).toBeGreaterThan(1);
      const report = bypassCSP ? "a stored script ran" : "the policy refused";
      await expect.poll(() => seen.some((what) => what.includes(report))).toBe(true);
    });
  });
}
