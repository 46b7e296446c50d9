/** The parts of the frontend that are fetched when they are needed: what happens before they come, and if they do not. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Page } from "@playwright/test";
import { ROOT, api, emptyInbox, environment, expect, hydrated, pageLoaded, signIn, test } from "../support";

let count = 0;
const unique = (name: string) => `${name} ${Date.now().toString(36)} ${count++}`;
const root = (page: Page) => page.locator("html");
const live = (page: Page) => expect(page.locator(".connection-word")).toContainText("Live");
const notice = (page: Page) => page.locator("#part-notice");
const INBOX_PART = "**/pkg/live_inbox.*.wasm";

interface Approval {
  id: string;
  state: string;
  sessionId: string;
}

const items = async () => (await api().get<{ items: Approval[] }>("/api/approvals?assignedTo=all&limit=500")).items;

/** Items of earlier tests would be shown too. */
test.beforeEach(() => emptyInbox());

/** Stages an output that waits for approval; its item. */
async function staged(title: string) {
  const type = await api().post<{ id: string }>("/api/entity-types", {
    name: unique("Deal"),
    fields: [{ slug: "note", name: "Note", type: "text" }],
  });
  const deal = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title, fields: {} });
  const agentSlug = unique("scout").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const about = { targetEntityId: deal.id, outputType: "entity", metadata: { requiresApproval: true } };
  const action = await api().createAction({ name: "Qualify", agentSlug, ...about });
  const session = await api().trigger(action.id);
  const claim = await api().claim(agentSlug);
  await api().complete(session.id, claim.attempt, { note: "as agreed" });
  return (await items()).find((item) => item.sessionId === session.id)!;
}

/** Holds back a file until the returned function is called. */
async function holdBack(page: Page, file: string) {
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route(file, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** Signs in and starts a conversation with an agent of its own. */
async function conversation(page: Page) {
  const agent = unique("talk").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  await api().createAction({ name: `Talk ${agent}`, agentSlug: agent });
  await signIn(page, "operator");
  await page.goto("/chat");
  await page.locator('select[name="agent"]').selectOption(agent);
  await page.locator('textarea[name="message"]').fill("First");
  await page.getByRole("button", { name: "Start conversation" }).click();
  await expect(page).toHaveURL(/\/chat\/[0-9a-f-]{36}/);
  return { agent, id: page.url().match(/chat\/([0-9a-f-]{36})/)![1]! };
}

/** Counts how often a document is loaded. */
function documents(page: Page) {
  const loaded: string[] = [];
  page.on("request", (request) => void (request.resourceType() === "document" && loaded.push(request.url())));
  return loaded;
}

test("keys pressed before the inbox has loaded decide the item they were meant for", async ({ page }) => {
  const both = [await staged(unique("One")), await staged(unique("Two"))];
  await signIn(page, "reviewer");
  const release = await holdBack(page, INBOX_PART);
  await page.goto("/inbox");
  await live(page);
  const shown = await page.locator("#gate").getAttribute("data-id");
  const other = both.find((item) => item.id !== shown)!;
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await expect(root(page)).not.toHaveAttribute("data-ready");
  await expect(page.locator("#gate")).toHaveAttribute("data-id", shown!);
  release();
  await api().untilStatus(other.sessionId, "completed");
  expect((await items()).find((item) => item.id === shown)!.state).toBe("open");
});

test("text that follows a key which opens a field is not taken for shortcuts", async ({ page }) => {
  const item = await staged(unique("Kept"));
  await signIn(page, "reviewer");
  const release = await holdBack(page, INBOX_PART);
  await page.goto(`/inbox/${item.id}`);
  await live(page);
  for (const key of ["e", "a", "z"]) await page.keyboard.press(key);
  release();
  await hydrated(page);
  await expect(page.locator('[name="value.note"]')).toBeFocused();
  await expect(page.locator("#gate")).toHaveAttribute("data-id", item.id);
  expect((await items()).find(({ id }) => id === item.id)!.state).toBe("open");
});

test("what is typed into the palette before it has loaded is found, and Enter opens it", async ({ page }) => {
  await signIn(page, "operator");
  const release = await holdBack(page, "**/pkg/palette_dialog.*.wasm");
  await page.goto("/today");
  await hydrated(page);
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.locator("#palette-input")).toBeFocused();
  await expect(page.locator("#palette-list")).toBeHidden();
  await page.keyboard.type("settings tok");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/today$/);
  release();
  await expect(page).toHaveURL(/\/settings#tokens$/);
});

test("what is typed before the inbox has loaded wins over what the tab had stored", async ({ page }) => {
  const item = await staged(unique("Harbour"));
  const note = page.locator('#gate-form [name="value.note"]');
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await hydrated(page);
  await note.fill("stored before");
  await page.goto("/today");
  const release = await holdBack(page, INBOX_PART);
  await page.goto(`/inbox/${item.id}`);
  await live(page);
  await expect(note).toHaveValue("as agreed");
  await note.fill("typed early");
  release();
  await hydrated(page);
  await expect(note).toHaveValue("typed early");
  await expect(page.locator(".gate-bar [data-key=approve]")).toHaveText("Approve with changes");

  // It is stored without another key.
  await page.goto("/today");
  await page.goto(`/inbox/${item.id}`);
  await hydrated(page);
  await expect(note).toHaveValue("typed early");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("a message is sent with Enter before the conversation has loaded", async ({ page }) => {
  await conversation(page);
  await holdBack(page, "**/pkg/live_conversation.*.wasm");
  await page.reload();
  await live(page);
  await page.locator("#composer textarea").fill("Second");
  await page.locator("#composer textarea").press("Enter");
  await expect(page.locator('.message[data-by="person"]').last()).toContainText("Second");
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("what changed before the conversation had loaded is shown once it has", async ({ page }) => {
  const { agent, id } = await conversation(page);
  const release = await holdBack(page, "**/pkg/live_conversation.*.wasm");
  await page.reload();
  await live(page);
  const { attempt } = await api().claim(agent, 600);
  await api().append(id, attempt, [{ type: "agent.message", content: [{ type: "text", text: "An early answer" }] }]);
  // The badge of the inbox, which has loaded, reads its count after the signal that the conversation misses.
  const signalled = page.waitForRequest("**/api/approvals/count?**");
  await api().yield(id, attempt, "idle");
  await signalled;
  release();
  await expect(page.locator("#conversation")).toContainText("An early answer");
});

test("P-48: a part that is gone reloads the page once, and says so when it is there", async ({ page }) => {
  await staged(unique("After"));
  await signIn(page, "reviewer");
  await page.route(INBOX_PART, (route) => route.fulfill({ status: 404 }), { times: 1 });
  const loaded = documents(page);
  await page.goto("/inbox");
  await expect(notice(page)).toHaveText("This page was reloaded, because a part of it could not be loaded.");
  await hydrated(page);
  expect(loaded.length).toBe(2);
  await page.reload();
  await hydrated(page);
  await expect(notice(page)).toHaveCount(0);
});

test.describe("while a decision can be undone", () => {
  test.use({ undoSeconds: 60 });

  test("P-48: a part that stays away leaves a message and a page that works without it, and no loop", async ({ page }) => {
    const item = await staged(unique("Plain"));
    await signIn(page, "reviewer");
    await page.route(INBOX_PART, (route) => route.fulfill({ status: 404 }));
    const loaded = documents(page);
    await page.goto(`/inbox/${item.id}`);
    await expect(notice(page)).toHaveText("A part of this page could not be loaded. Reload the page to try again.");
    await expect(notice(page)).toHaveAttribute("role", "alert");
    expect(loaded.length).toBe(2);
    await live(page);
    await page.keyboard.press("a");
    await expect(page.locator(".inbox-held")).toContainText("Approved");
    const { approval } = await api().get<{ approval: Approval }>(`/api/approvals/${item.id}`);
    expect(approval.state).toBe("held");
  });
});

test("P-48: a page with typed text is not reloaded", async ({ page }) => {
  const item = await staged(unique("Typed"));
  await signIn(page, "reviewer");
  let fail = () => {};
  const failed = new Promise<void>((done) => (fail = done));
  await page.route(INBOX_PART, async (route) => {
    await failed;
    await route.fulfill({ status: 404 });
  });
  const loaded = documents(page);
  await page.goto(`/inbox/${item.id}`);
  await page.locator('[name="value.note"]').fill("typed by a person");
  fail();
  await expect(notice(page)).toContainText("could not be loaded");
  await expect(page.locator('[name="value.note"]')).toHaveValue("typed by a person");
  expect(loaded.length).toBe(1);
});

/** Pages with a part that comes later: how to get to the page, and the part. */
const LATER: [string, string, (page: Page) => Promise<string>][] = [
  ["Today", "work_queue_strip", async () => "/today"],
  ["the inbox", "live_inbox", async () => `/inbox/${(await staged(unique("Still"))).id}`],
  ["the list of sessions", "live_rows", async () => "/sessions"],
  ["a session", "live_transcript", async () => `/sessions/${(await staged(unique("Read"))).sessionId}`],
  ["a conversation", "live_conversation", async (page) => `/chat/${(await conversation(page)).id}`],
  ["the day", "live_day", async () => "/working-on"],
  ["the keys", "bindings_editor", async () => "/settings"],
  ["the conversations", "live_rows", conversations],
  ["a task", "live_rows", stagedTask],
  ["the editor of a form", "live_preview", editor],
  ["an import", "live_progress", runningImport],
];

/** The list of conversations, with one in it. */
async function conversations(page: Page) {
  await conversation(page);
  return "/chat";
}

/** The page of a task with a session. */
async function stagedTask() {
  const { sessionId } = await staged(unique("Task"));
  return `/actions/${(await api().session(sessionId)).actionId as string}`;
}

/** Creates a form; the path of its editor. */
async function editor() {
  const fields = [{ key: "why", label: "Why?", type: "long_text" }];
  const view = await api().post<{ slug: string }>("/api/views", { title: unique("Preview"), fields });
  return `/views/${view.slug}/edit`;
}

/** The page of an import that runs. It stays as it was then: what it asks for gets no answer. */
async function runningImport(page: Page) {
  const fields = [{ slug: "note", name: "Note", type: "text" }];
  const type = await api().post<{ id: string }>("/api/entity-types", { name: unique("Firm"), fields });
  const rows = Array.from({ length: 10_000 }, (_, n) => `Firm ${n},seen`);
  const headers = { "content-type": "text/csv", origin: environment().url };
  const begun = await page.request.post(`/api/entity-types/${type.id}/imports`, { data: ["Title,Note", ...rows].join("\n"), headers });
  expect(begun.status(), await begun.text()).toBe(201);
  const path = `/imports/${((await begun.json()) as { id: string }).id}`;
  const shown = await page.request.get(path);
  const [body, sent] = [await shown.text(), shown.headers()];
  expect(body).toContain('data-component="LiveProgress');
  const policy = { "content-type": sent["content-type"]!, "content-security-policy": sent["content-security-policy"]! };
  await page.route(`**${path}`, (route) => route.fulfill({ body, headers: policy }));
  await page.route(`**${path}/progress*`, (route) => route.abort());
  return path;
}

/** Begins to collect what moves. Elements that are replaced are not compared. */
async function watchPlaces(page: Page) {
  await page.evaluate(() => {
    const place = (element: Element) => {
      const { top, height } = element.getBoundingClientRect();
      return `${Math.round(top + scrollY)} + ${Math.round(height)}`;
    };
    const named = (node: Node | null) => (node instanceof Element ? `<${node.localName} class="${node.className}">` : String(node?.textContent));
    const parts = [...document.querySelectorAll("main :is(h1, h2, section, li, tr, form, .row, .button)")];
    const before = parts.filter((part) => part.getClientRects().length > 0).map((part) => ({ part, was: place(part) }));
    const shifted: string[] = [];
    new PerformanceObserver((list) => {
      const entries = list.getEntries() as (PerformanceEntry & { sources: { node: Node | null }[] })[];
      shifted.push(...entries.flatMap(({ sources }) => sources.map(({ node }) => `shifted: ${named(node)}`)));
    }).observe({ type: "layout-shift" });
    const moved = () => {
      const there = before.filter(({ part, was }) => part.isConnected && place(part) !== was);
      return [...shifted, ...there.map(({ part, was }) => `${named(part)}: ${was}, now ${place(part)}`)];
    };
    Object.assign(window, { moved });
  });
  return () => page.evaluate(() => (window as unknown as { moved: () => string[] }).moved());
}

for (const [name, part, address] of LATER) {
  test(`nothing moves on the page of ${name} when its part comes`, async ({ page }) => {
    await signIn(page, "operator");
    const path = await address(page);
    // The first page of a browser is rendered without its time zone, and read again.
    await page.goto(path);
    await hydrated(page);
    const release = await holdBack(page, `**/pkg/${part}.*.wasm`);
    await page.goto(path);
    await live(page);
    await expect(root(page)).not.toHaveAttribute("data-ready");
    const moved = await watchPlaces(page);
    release();
    await hydrated(page);
    await pageLoaded(page);
    await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))));
    expect(await moved()).toEqual([]);
  });
}

test("the part of a page is fetched when the pointer comes to a link to the page", async ({ page }) => {
  await staged(unique("Hovered"));
  await signIn(page, "operator");
  await page.goto("/entities");
  await hydrated(page);
  const links = page.getByRole("navigation", { name: "Main" });
  for (const [name, part] of [["Today", "work_queue_strip"], ["Inbox", "live_inbox"], ["Sessions", "live_rows"], ["Settings", "bindings_editor"]]) {
    const fetched = page.waitForRequest(`**/pkg/${part}.*.wasm`);
    await links.getByRole("link", { name: new RegExp(`^${name}`) }).hover();
    await fetched;
  }
  await expect(page).toHaveURL(/\/entities$/);
  await page.goto("/sessions");
  await hydrated(page);
  const fetched = page.waitForRequest("**/pkg/live_transcript.*.wasm");
  await page.locator(".table-main a").first().hover();
  await fetched;
});

/** The islands that are loaded late, as the source declares them. */
function lateIslands() {
  const folder = join(ROOT, "app/src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".rs"));
  const texts = files.map((name) => readFileSync(join(folder, name), "utf8"));
  return texts.flatMap((text) => [...text.matchAll(/#\[island\(lazy\)\]\s+pub fn (\w+)/g)].map(([, island]) => island!));
}

test("what is fetched at a link is what its page loads", async ({ page }) => {
  const script = readFileSync(join(ROOT, "frontend/src/parts.js"), "utf8");
  const listed = new Map([...script.matchAll(/^ {4}"?([\w-]+)"?: "([^"]*)",$/gm)].map(([, first, islands]) => [first, islands!.split(" ")]));
  expect(listed.size).toBeGreaterThan(8);
  // Every page has the list of the picker, and the bar of a job is there only while the job runs.
  const late = lateIslands().filter((island) => island !== "TaskChooser" && island !== "LiveProgress");
  const { agent, id } = await conversation(page);
  const item = await staged(unique("Listed"));
  const form = await editor();
  const task = await stagedTask();
  const canvas = await page.request.post("/api/canvases", { data: { title: unique("Plan") }, headers: { origin: environment().url } });
  expect(canvas.status(), await canvas.text()).toBe(201);
  const plan = `/canvases/${((await canvas.json()) as { id: string }).id}`;
  const rail = ["/inbox", "/today", "/sessions", "/chat", "/actions", "/entities", "/memory", "/insights", "/settings"];
  const others = ["/views", "/working-on", "/agents", "/criteria-sets", "/bundles", "/export", "/api/docs", "/canvases"];
  const below = [plan, `/inbox/${item.id}`, `/sessions/${item.sessionId}`, `/chat/${id}`, task, form, "/views/new", `/agents/${agent}`, "/criteria-sets/new"];
  const loaded = new Set<string>();
  for (const path of [...rail, ...others, ...below]) {
    const [, first, rest] = path.split("/");
    const html = await (await page.request.get(path)).text();
    const islands = [...html.matchAll(/data-component="([A-Za-z]+)/g)].map(([, island]) => island!).filter((island) => late.includes(island));
    const fetched = listed.get(first)?.[rest ? 1 : 0];
    expect([...new Set(islands)], path).toEqual(fetched ? [fetched] : []);
    for (const island of islands) loaded.add(island);
  }
  // An island that none of these pages has would be compared with nothing.
  expect([...loaded].toSorted()).toEqual(late.toSorted());
  const known = [...late, "LiveProgress"];
  expect([...listed.values()].flat().filter((island) => island && !known.includes(island))).toEqual([]);
});

test("the palette is fetched once the page works and the browser is idle, before a key asks for it", async ({ page }) => {
  await signIn(page, "operator");
  await page.addInitScript(() => document.addEventListener("shiftbook-ready", () => performance.mark("ready"), { once: true }));
  await page.goto("/entities");
  const isLater = () =>
    page.evaluate(() => {
      const [ready] = performance.getEntriesByName("ready");
      const part = performance.getEntriesByType("resource").find(({ name }) => name.includes("/palette_dialog."));
      return ready && part ? part.startTime >= ready.startTime : undefined;
    });
  await expect.poll(isLater).toBe(true);
});
