/**
 * The inbox with 10,000 items: the server's time for a list, the time between a key and the next item on the
 * screen, and the time for a hundred similar decisions by keyboard.
 */
import { type Page } from "@playwright/test";
import { api, expect, pageLoaded, signIn, environment, test } from "../support";
import { type Figure, report } from "./figures";

const WAITING = Number(process.env.SHIFTBOOK_BENCH_ITEMS ?? 10_000);
const AGENTS = 20;
const REQUESTS = 400;
const FIRST_KEYS = 25;
const KEYS = 60;
const ALIKE = 100;
/** Concurrent requests while the items are created. */
const LANES = 8;
const CLAIM_MAX = 100;

const figures: Figure[] = [];

const quantile = (of: number[], q: number) => of.toSorted((a, b) => a - b)[Math.min(of.length - 1, Math.floor(of.length * q))]!;

const range = (of: number[]) => `p50 ${quantile(of, 0.5).toFixed(1)} ms, p95 ${quantile(of, 0.95).toFixed(1)} ms, p99 ${quantile(of, 0.99).toFixed(1)} ms, max ${Math.max(...of).toFixed(1)} ms of ${of.length}`;

let dealType: Promise<{ slug: string }> | undefined;

/** Creates items that wait for a decision: sessions of one agent, whose outputs would each create a record. */
async function stageItems(agentSlug: string, count: number, values: (n: number) => object, approval: object = {}) {
  dealType ??= api().post("/api/entity-types", {
    name: "Measured deal",
    fields: [
      { slug: "stage", name: "Stage", type: "select", options: ["Lead", "Won", "Lost"] },
      { slug: "amount", name: "Amount", type: "number" },
      { slug: "note", name: "Note", type: "text" },
    ],
  });
  const action = await api().createAction({
    name: `Qualify for ${agentSlug}`,
    agentSlug,
    outputType: "entity",
    outputConfig: { entityType: (await dealType).slug },
    metadata: { requiresApproval: true, approval },
  });
  const lanes = async (work: (n: number) => Promise<unknown>) => {
    let next = 0;
    const lane = async () => {
      for (let n = next++; n < count; n = next++) await work(n);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  };
  await lanes(() => api().trigger(action.id));
  for (let made = 0; made < count; ) {
    const { sessions } = await api().post<{ sessions: { session: { id: string }; attempt: number }[] }>("/api/sessions/claim", {
      agentSlugs: [agentSlug],
      max: CLAIM_MAX,
      leaseSeconds: 600,
    });
    const from = made;
    await Promise.all(sessions.map(({ session, attempt }, at) => api().complete(session.id, attempt, values(from + at))));
    made += sessions.length;
  }
}

/** Times of consecutive requests, from the request to the end of the response. */
async function timed(path: string, cookie: string): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < REQUESTS + 20; n++) {
    const begun = performance.now();
    const answer = await fetch(`${environment().url}${path}`, { headers: { cookie, "x-fragment": "1" } });
    await answer.arrayBuffer();
    expect(answer.status).toBe(200);
    if (n >= 20) took.push(performance.now() - begun);
  }
  return took;
}

/** Opens the inbox and waits until scripts run and the next item is prefetched. */
async function openInbox(page: Page) {
  const ahead = page.waitForResponse(/\/detail$/);
  await page.goto("/inbox");
  await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  await ahead;
}

/** Time from a key event to the frame that shows another item, in milliseconds. */
function press(page: Page, key: string, code: string): Promise<number> {
  return page.evaluate(
    ([key, code]) =>
      new Promise<number>((done) => {
        const before = document.getElementById("gate")?.dataset.id;
        const begun = performance.now();
        const target = document.activeElement ?? document.body;
        target.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true }));
        const look = () => {
          const now = document.getElementById("gate")?.dataset.id;
          if (!now || now === before) requestAnimationFrame(look);
          // The next frame starts after this one is on the screen.
          else requestAnimationFrame(() => done(performance.now() - begun));
        };
        look();
      }),
    [key, code] as const,
  );
}

/** The number of items that wait for a decision, as the API counts them. */
async function openCount(cookie: string): Promise<number> {
  const answer = await fetch(`${environment().url}/api/approvals/count`, { headers: { cookie } });
  return ((await answer.json()) as { open: number }).open;
}

test("the inbox", async ({ page, context }) => {
  test.setTimeout(900_000);
  const begun = performance.now();
  for (let agent = 0; agent < AGENTS; agent++) {
    await stageItems(`agent-${agent}`, WAITING / AGENTS, (n) => ({ title: `Deal ${agent}/${n}`, stage: n % 3 ? "Won" : "Lead", amount: n, note: `As agreed on the phone, ${n}.` }));
  }
  console.log(`${WAITING} items made in ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  await signIn(page, "reviewer");
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  expect(await openCount(cookie)).toBe(WAITING);

  const { items } = (await (await fetch(`${environment().url}/api/approvals?limit=1`, { headers: { cookie } })).json()) as { items: { id: string }[] };
  for (const [what, path] of [
    ["list of 100 of 10,000 waiting items, p99", "/api/approvals?limit=100"],
    ["the inbox's list of 200 rows of 10,000, as HTML, p99", "/inbox/list"],
    ["one item as HTML, p99", `/inbox/${items[0]!.id}/detail`],
    ["the count of 10,000, p99", "/api/approvals/count"],
  ] as const) {
    const took = await timed(path, cookie);
    figures.push({ what, unit: "ms", ours: quantile(took, 0.99), ...(path.startsWith("/api/approvals?") || path === "/inbox/list" ? { atMost: 20 } : {}), facts: range(took) });
  }

  // All groups unfolded: the rows one by one, as a reviewer goes through them.
  const first: number[] = [];
  for (let n = 0; n < FIRST_KEYS; n++) {
    await openInbox(page);
    await page.locator('[data-fold][aria-expanded="false"]').first().click();
    await pageLoaded(page);
    await page.locator("#inbox-rows [data-id]:not([hidden]) .row-title").first().focus();
    await pageLoaded(page);
    first.push(await press(page, "j", "KeyJ"));
  }
  figures.push({ what: "from the first key to the next item painted, median", unit: "ms", ours: quantile(first, 0.5), atMost: 60, facts: range(first) });
  const following: number[] = [];
  for (let n = 0; n < KEYS; n++) {
    following.push(await press(page, "a", "KeyA"));
    await pageLoaded(page);
  }
  figures.push({ what: "from `a` to the next item painted, median", unit: "ms", ours: quantile(following, 0.5), atMost: 60, facts: range(following) });
  figures.push({ what: "elements of the page with 200 rows", unit: "", ours: await page.evaluate(() => document.querySelectorAll("*").length) });

  // A hundred similar items, closest to their deadline: once with three keys, once with a key for each.
  await stageItems("agent-alike", ALIKE, (n) => ({ title: `Renewal ${n}`, stage: "Won", amount: 1 }), { expiresAfterSeconds: 86_400 });
  await openInbox(page);
  await page.locator("[data-group]", { hasText: `${ALIKE} outputs` }).locator(".row-title").focus();
  const together = performance.now();
  await page.keyboard.press("x");
  await page.keyboard.press("a");
  await expect(page.locator("#inbox-batch-bar [data-key=approve]")).toHaveText(/^Press again/);
  await page.keyboard.press("a");
  await expect(page.locator(".inbox-held")).toContainText(`${ALIKE} items`);
  figures.push({ what: `${ALIKE} similar approvals with three keys, answered`, unit: "s", ours: (performance.now() - together) / 1_000, atMost: 10 });

  await stageItems("agent-single", ALIKE + 1, (n) => ({ title: `Single ${n}`, stage: "Won", note: `Note ${n}` }), { expiresAfterSeconds: 80_000 });
  await openInbox(page);
  await page.locator("[data-group]", { hasText: "outputs" }).first().locator("[data-fold]").click();
  await page.locator("#inbox-rows [data-id]:not([hidden]) .row-title").first().focus();
  await pageLoaded(page);
  const left = await openCount(cookie);
  const singly = performance.now();
  for (let n = 0; n < ALIKE; n++) await press(page, "a", "KeyA");
  const shown = (performance.now() - singly) / 1_000;
  await expect.poll(() => openCount(cookie), { timeout: 60_000, intervals: [20] }).toBe(left - ALIKE);
  figures.push({ what: `${ALIKE} similar approvals with a key each, answered`, unit: "s", ours: (performance.now() - singly) / 1_000, atMost: 10, facts: `the last item was on the screen after ${shown.toFixed(2)} s` });

  report(figures);
});
