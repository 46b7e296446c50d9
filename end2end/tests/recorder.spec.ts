/**
 * The recorder: what it records, what it queues while the server is away, and that no event is lost or recorded
 * twice.
 */
import { randomBytes } from "node:crypto";
import type { BrowserContext, Page } from "@playwright/test";
import { Site } from "../site";
import { api, expect, signInByForm, environment, test } from "../support";
import {
  activeOf, awake, begin, finder, logOf, options, pathsOf, pick, postAs, said, signInIdle, stopButton, taskFor, visit, working, type Logged,
} from "../working";

const EVENTS = "**/fn/working-on/record";
/** A few rounds by default; `SHIFTBOOK_RECORDER_ROUNDS=1000` runs the long version. */
const ROUNDS = Number(process.env.SHIFTBOOK_RECORDER_ROUNDS ?? 20);
const SEED = Number(process.env.SHIFTBOOK_RECORDER_SEED ?? Date.now() % 1_000_000);

/** The number of queued events of this browser, as shown to the next page. */
const waiting = (page: Page) =>
  page.evaluate(() =>
    Object.entries(localStorage).filter(([key]) => key.startsWith("shiftbook-waiting ")).reduce((sum, [, count]) => sum + Number(count), 0),
  );

test("without a session nothing is recorded, sent or stored", async ({ page }) => {
  await signInIdle(page, "operator");
  const posts: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") posts.push(request.url());
  });
  for (const path of ["/today", "/actions", "/sessions"]) await awake(page, path);
  expect(posts).toEqual([]);
  expect(await page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name))).toEqual([]);
  await expect(page.locator("html[data-recorded]")).toHaveCount(0);
});

test("an entity is named once per session, by a path with a UUID alone", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Looking at entities"));
  // The recorder looks only at the path, so any page of the shell can take the place of an entity's page.
  await page.route(/\/(t|entities)\//, async (route) => route.fulfill({ response: await route.fetch({ url: `${environment().url}/actions` }) }));
  const id = "01890a5d-ac96-774b-bcce-b302099a8057";
  for (const path of [`/t/acme/companies/${id}`, `/entities/${id}?again=1`, "/entities/acme-corp", `/t/acme/companies/${id}`]) {
    await page.goto(path);
    await expect(page.locator("html[data-recorded]")).toBeAttached();
  }
  await expect.poll(async () => (await logOf(session, "human.navigate")).length, { timeout: 20_000 }).toBe(4);
  const seen = await logOf(session, "human.entity_view");
  expect(seen.map(({ metadata: { at: _, ...rest } }) => rest)).toEqual([
    { entityId: id, entityType: "companies", pathname: `/t/acme/companies/${id}` },
  ]);
});

test("an entity's own page adds the type of the entity", async ({ page }) => {
  const slug = `kind-${randomBytes(4).toString("hex")}`;
  const type = await api().post<{ id: string }>("/api/entity-types", { name: "Kind", slug, fields: [] });
  const { id } = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title: "Acme Ltd", fields: {} });
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Looking at an entity"));
  const pathname = `/entities/${id}`;
  await visit(page, pathname);
  await expect.poll(async () => (await logOf(session, "human.entity_view")).length, { timeout: 20_000 }).toBe(1);
  const [seen] = await logOf(session, "human.entity_view");
  expect(seen!.metadata).toMatchObject({ entityId: id, entityType: slug, pathname });
});

test("recording can be paused and says what it records", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Paused"));
  await visit(page, "/today");
  await working(page).click();
  await expect(page.getByText("Records the pages you open and the markers you write. Does not record what you type, scroll or hover over.")).toBeVisible();
  const recording = page.getByRole("switch", { name: "Record pages" });
  await expect(recording).toHaveAttribute("aria-checked", "true");
  await recording.click();
  await expect(recording).toHaveAttribute("aria-checked", "false");
  await page.keyboard.press("Escape");
  await expect(page.locator(".working-now [data-part=paused]")).toBeVisible();
  await awake(page, "/actions");
  await expect(page.locator(".working-now [data-part=paused]")).toBeVisible();
  await working(page).click();
  await recording.click();
  await visit(page, "/sessions");
  await expect.poll(() => pathsOf(session), { timeout: 20_000 }).toEqual(["/today", "/sessions"]);
});

test("what waits is shown while the server cannot be reached, and sent once it can", async ({ page, context }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Offline for a while"));
  await page.route(EVENTS, (route) => route.abort());
  await visit(page, "/actions");
  await visit(page, "/sessions");
  await context.setOffline(true);
  await expect(page.locator(".connection")).toContainText("2 queued");
  // Removed before the network is back: a request made while Playwright removes a route may hang forever.
  await page.unroute(EVENTS);
  await context.setOffline(false);
  await expect(page.locator(".connection")).toHaveText("Live", { timeout: 20_000 });
  await expect.poll(() => pathsOf(session), { timeout: 20_000 }).toEqual(["/actions", "/sessions"]);
  await expect.poll(() => waiting(page)).toBe(0);
});

test("events wait through signing out, and nobody else's sign-in sends them", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Signed out meanwhile"));
  await page.route(EVENTS, (route) => route.abort());
  await visit(page, "/actions");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/sign-in/);
  await page.unroute(EVENTS);
  await signInIdle(page, "member");
  const sent: string[] = [];
  page.on("request", (request) => {
    const body = request.url().endsWith("/fn/working-on/record") ? request.postData() : null;
    if (body?.includes(session)) sent.push(body);
  });
  const own = await begin(page, await taskFor(page, "Somebody else's work"));
  await visit(page, "/sessions");
  await expect.poll(() => pathsOf(own), { timeout: 20_000 }).toEqual(["/sessions"]);
  expect(sent).toEqual([]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signInByForm(page, "operator");
  await expect.poll(async () => (await pathsOf(session))[0], { timeout: 20_000 }).toBe("/actions");
  // The request that was looked for above is the one that sends them.
  await expect.poll(() => sent.length).toBeGreaterThan(0);
});

test("events whose session has ended meanwhile are set aside, said to be, and do not block others", async ({ page }) => {
  await signInIdle(page, "operator");
  const first = await begin(page, await taskFor(page, "Ended elsewhere"));
  await page.route(EVENTS, (route) => route.abort());
  await visit(page, "/actions");
  await postAs(page.context(), "/api/sessions/human/stop", { sessionId: first });
  const second = await begin(page, await taskFor(page, "Begun elsewhere"));
  await page.unroute(EVENTS);
  await visit(page, "/sessions");
  const aside = page.locator('[data-part="refused"]');
  await expect(aside).toContainText("1 event not recorded", { timeout: 20_000 });
  await expect.poll(() => pathsOf(second), { timeout: 20_000 }).toEqual(["/sessions"]);
  expect(await pathsOf(first)).toEqual([]);
  await awake(page, "/today");
  await expect(aside).toBeVisible();
  await page.getByRole("button", { name: "Dismiss the events that were not recorded" }).click();
  await expect(aside).toBeHidden();
  await awake(page, "/actions");
  await expect(page.locator(".working")).toBeVisible();
  await expect(aside).toBeHidden();
});

test("a session is not stopped before its events were sent", async ({ page }) => {
  await signInIdle(page, "operator");
  const task = await taskFor(page, "Stopped too early");
  const session = await begin(page, task);
  await page.route(EVENTS, (route) => route.abort());
  await visit(page, "/actions");
  await stopButton(page).click();
  await expect(said(page)).toContainText("The working session was not stopped. Events could not be sent yet");
  await expect(working(page, task.name)).toBeVisible();
  expect((await activeOf(page.context()))?.id).toBe(session);
  await page.unroute(EVENTS);
  await stopButton(page).click();
  await expect.poll(() => activeOf(page.context())).toBeNull();
  expect(await pathsOf(session)).toEqual(["/actions"]);
});

test("a session is not replaced before its events were sent, by another task or by a new one", async ({ page }) => {
  await signInIdle(page, "operator");
  const first = await taskFor(page, "Replaced too early");
  const second = await taskFor(page, "Replaces the first");
  const session = await begin(page, first);
  await page.route(EVENTS, (route) => route.abort());
  await visit(page, "/actions");
  await pick(page, second.name);
  await expect(said(page)).toContainText("The working session was not started. Events could not be sent yet");
  await expect(working(page, first.name)).toBeVisible();
  await working(page).click();
  await finder(page).fill(`Never made ${Date.now().toString(36)}`);
  await options(page).filter({ hasText: "Create new task" }).click();
  await expect(said(page)).toContainText("The task was not created. Events could not be sent yet");
  await expect(working(page, first.name)).toBeVisible();
  expect((await activeOf(page.context()))?.id).toBe(session);
  await page.unroute(EVENTS);
  await pick(page, second.name);
  await expect.poll(async () => (await activeOf(page.context()))?.title).toBe(second.name);
  expect(await pathsOf(session)).toEqual(["/actions"]);
});

/** How often the recorder sends what is queued while a page is shown. */
const SEND_EVERY_MS = 5_000;

/** Opens a page whose events cannot be sent at first, and are not sent again by the clock. */
async function visitWithQueue(page: Page, path: string) {
  await page.addInitScript((everyMs) => {
    const { fetch, setInterval } = window;
    window.setInterval = ((call: TimerHandler, ms?: number) => (ms === everyMs ? 0 : setInterval(call, ms))) as typeof window.setInterval;
    const kept: boolean[] = [];
    window.fetch = (input, init) => {
      if (input instanceof Request && input.url.endsWith("/fn/working-on/record")) kept.push(input.keepalive);
      return fetch(input, init);
    };
    Object.assign(window, { kept });
  }, SEND_EVERY_MS);
  await page.route(EVENTS, (route) => route.abort());
  const refused = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/fn/working-on/record"));
  await visit(page, path);
  await refused;
  // While the refused request is taken up, nothing else is sent.
  await page.waitForFunction(async () => (await navigator.locks.query()).held?.every(({ name }) => name !== "shiftbook-recorder"));
  await page.unroute(EVENTS);
}

test("what is queued is sent when the page is hidden, by a request that survives it", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Hidden"));
  await visitWithQueue(page, "/actions");
  expect(await pathsOf(session)).toEqual([]);
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await expect.poll(() => pathsOf(session)).toEqual(["/actions"]);
  expect(await page.evaluate(() => (window as unknown as { kept: boolean[] }).kept)).toEqual([true, true]);
  await expect.poll(() => waiting(page)).toBe(0);
});

test("what is queued is sent when the page is left", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Left"));
  await visitWithQueue(page, "/actions");
  await page.goto("about:blank");
  await expect.poll(() => pathsOf(session)).toEqual(["/actions"]);
});

test("eight tabs read one live stream", async ({ page, context }) => {
  await signInIdle(page, "operator");
  const open = new Set<unknown>();
  context.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/live") open.add(request);
  });
  context.on("requestfinished", (request) => open.delete(request));
  context.on("requestfailed", (request) => open.delete(request));
  await awake(page, "/today");
  const tabs = [page];
  while (tabs.length < 8) {
    const tab = await context.newPage();
    await awake(tab, "/sessions");
    tabs.push(tab);
  }
  for (const tab of tabs) await expect(tab.locator(".connection")).toHaveAttribute("data-state", "live");
  expect(open.size).toBe(1);
  // Over HTTP/1.1 a browser opens six connections to a server, so one stream per tab would leave none.
  const ninth = await context.newPage();
  await awake(ninth, "/actions");
  await expect(ninth.locator(".connection")).toHaveAttribute("data-state", "live");
  expect(open.size).toBe(1);
});

/** A seeded random number generator: mulberry32. */
function randomNumbers(seed: number) {
  return (sides: number) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % sides;
  };
}

/** The navigations that the log of a session has. */
async function navigations(site: Site, session: string): Promise<Logged[]> {
  const all: Logged[] = [];
  for (;;) {
    const page = await site.read<{ events: Logged[]; hasMore: boolean }>(
      `/api/sessions/${session}/events?eventTypes=human.navigate&limit=1000&afterSequence=${all.at(-1)?.sequence ?? 0}`,
    );
    all.push(...page.events);
    if (!page.hasMore) return all;
  }
}

/** Crashes the renderer process of a tab. */
async function crash(page: Page) {
  const session = await page.context().newCDPSession(page);
  const gone = page.waitForEvent("crash");
  session.send("Page.crash").catch(() => undefined);
  await gone;
  await page.close();
}

test(`P-46: through ${ROUNDS} rounds of offline, reload, killed tab and killed server every event is in the log once, in order`, async ({ browser }, info) => {
  test.setTimeout(60_000 + ROUNDS * 8_000);
  info.annotations.push({ type: "seed", description: String(SEED) });
  const random = randomNumbers(SEED);
  const site = new Site();
  let context: BrowserContext | undefined;
  try {
    await site.start();
    const [person] = site.populate("p46");
    context = await browser.newContext({ baseURL: site.url });
    const door = await context.newPage();
    await door.goto("/sign-in");
    await door.locator('input[name="email"]').fill(person!.email);
    await door.locator('input[name="password"]').fill(person!.password);
    await door.getByRole("button", { name: "Sign in" }).click();
    await expect(door).not.toHaveURL(/sign-in/);
    // Unique names, because slugs are derived from names and a name has a limited number of slugs.
    let pages = 0;
    const pageOf = async () => `/actions/${(await site.read<{ id: string }>("/api/actions", "POST", { name: `Page ${++pages}` })).id}`;
    const task = (await site.read<{ id: string }>("/api/actions", "POST", { name: "Under way" })).id;
    const session = (await postAs<{ session: { id: string } }>(context, "/api/sessions/human/start", { taskId: task }, site.url)).session.id;
    await door.close();

    /**
     * A tab with the pages that only it opens, and those it has opened so far. After a crash it counts as a new
     * tab.
     */
    interface Tab { page: Page; crashed: boolean; paths: string[]; made: string[] }
    const all: Tab[] = [];
    const open = async () => {
      const tab: Tab = { page: await context!.newPage(), crashed: false, paths: [await pageOf(), await pageOf(), await pageOf()], made: [] };
      // A crash may also end another tab of the same process.
      tab.page.on("crash", () => (tab.crashed = true));
      all.push(tab);
      return tab;
    };
    const tabs = [await open(), await open()];
    const tab = async (which: number) => {
      const present = tabs[which]!;
      if (!present.page.isClosed() && !present.crashed) return present;
      await present.page.close();
      return (tabs[which] = await open());
    };
    const go = async (which: number) => {
      const { page, paths, made } = await tab(which);
      const path = paths[random(paths.length)]!;
      await visit(page, path);
      made.push(path);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const which = random(2);
      await go(which);
      switch (random(5)) {
        case 0: {
          await context.setOffline(true);
          await expect((await tab(which)).page.locator(".connection")).toHaveAttribute("data-state", "offline");
          await context.setOffline(false);
          break;
        }
        case 1: {
          const { page, made } = await tab(which);
          await page.reload();
          const path = new URL(page.url()).pathname;
          await expect(page.locator(`html[data-recorded="${path}"]`)).toBeAttached();
          made.push(path);
          break;
        }
        case 2:
          await crash((await tab(which)).page);
          break;
        case 3:
          await site.restart();
          break;
        default:
          await Promise.all([go(0), go(1)]);
      }
    }
    const last = (await tab(0)).page;
    await visit(last, "/settings");
    const total = all.reduce((sum, { made }) => sum + made.length, 1);
    await expect.poll(async () => (await navigations(site, session)).length, { timeout: 60_000 }).toBe(total);
    const log = await navigations(site, session);
    expect(new Set(log.map((event) => event.id)).size).toBe(total);
    for (const { paths, made } of all) {
      const own = log.map((event) => event.metadata.pathname!).filter((path) => paths.includes(path));
      expect(own, `seed ${SEED}`).toEqual(made);
    }
    await expect.poll(() => waiting(last)).toBe(0);
  } finally {
    await context?.close();
    await site.end();
  }
});

test("a page that is left before the recorder has loaded is recorded by the next page, once", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Quickly through"));
  await page.route("**/pkg/**", (route) => route.abort());
  for (const path of ["/actions", "/sessions"]) await page.goto(path, { waitUntil: "domcontentloaded" });
  await page.evaluate(() => document.readyState);
  await page.unroute("**/pkg/**");
  await visit(page, "/today");
  await expect.poll(() => pathsOf(session), { timeout: 20_000 }).toEqual(["/actions", "/sessions", "/today"]);
  // A page that stayed until it was recorded is not kept a second time.
  await visit(page, "/memory");
  await visit(page, "/insights");
  await expect.poll(() => pathsOf(session), { timeout: 20_000 }).toEqual(["/actions", "/sessions", "/today", "/memory", "/insights"]);
  expect(await page.evaluate(() => localStorage.getItem("shiftbook-left"))).toBeNull();
});

test("an incognito conversation is not recorded, opened or left early", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "In private"));
  const ask = (incognito: boolean) => postAs<{ id: string }>(page.context(), "/api/threads", { agent: "confidant", message: "Hello", incognito });
  const [hidden, shown] = [await ask(true), await ask(false)];
  await awake(page, `/chat/${hidden.id}`);
  await page.route("**/pkg/**", (route) => route.abort());
  await page.goto(`/chat/${hidden.id}`, { waitUntil: "domcontentloaded" });
  await page.unroute("**/pkg/**");
  await visit(page, `/chat/${shown.id}`);
  await expect.poll(() => pathsOf(session), { timeout: 20_000 }).toEqual([`/chat/${shown.id}`]);
  // What was queued before would have been sent with it.
  await expect.poll(() => waiting(page), { timeout: 20_000 }).toBe(0);
});

test("a list of left pages that no page has written stops nothing", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "After a fault"));
  await visit(page, "/today");
  for (const stored of ["null", "[null]", '["x"]', "{}"]) {
    await page.evaluate((text) => localStorage.setItem("shiftbook-left", text), stored);
    await visit(page, "/today");
    expect(await page.evaluate(() => localStorage.getItem("shiftbook-left")), stored).toBeNull();
  }
  await expect.poll(async () => (await pathsOf(session)).length, { timeout: 20_000 }).toBe(5);
});
