/** The main use: a person runs a task, a real process works on it, and its log appears. */
import { type Page } from "@playwright/test";
import { api, expect, hydrated, runWorker, signIn, environment, test } from "../support";

/** The main use runs with the animations of the pages, which are off elsewhere. */
test.use({ contextOptions: { reducedMotion: "no-preference" } });

/** A small agent: three events, a pause that reads a line from stdin, and a result. */
const AGENT = `
read -r input
echo '{"type":"agent.thinking","content":[{"type":"text","text":"Looking at the input"}]}'
echo '{"type":"agent.tool_call","content":[{"type":"tool-call","toolCallId":"c1","toolName":"count_words","input":{"text":"one two"}}]}'
echo '{"type":"agent.tool_result","content":[{"type":"tool-result","toolCallId":"c1","toolName":"count_words","output":{"words":2}}]}'
echo 'Counted **two** words.'
echo 'a note for the operator' >&2
echo '{"type":"result","result":{"text":"2 words","words":2},"usage":{"inputTokens":12,"outputTokens":3}}'
`;

test("an action made and triggered in the browser is worked on by a real process and completes @nojs", async ({ page }, info) => {
  const agent = `counter-${info.project.name}`;
  await signIn(page, "operator");
  await page.goto("/actions");
  const name = page.locator('form[action="/actions"] input[name="name"]');
  if (!(await name.isVisible())) {
    await page.locator("summary", { hasText: /new task|create/i }).first().click();
  }
  await name.fill(`Count words ${info.project.name}`);
  await page.locator('form[action="/actions"] input[name="agentSlug"]').fill(agent);
  await page.getByRole("button", { name: "Create task" }).click();
  await expect(page.getByText("Task created.")).toBeVisible();
  await page.locator('textarea[name="input"]').fill('{"text":"one two"}');
  await page.locator('form[action$="/trigger"] button[data-key="run"]').click();
  await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]{36}/);
  const id = page.url().match(/sessions\/([0-9a-f-]{36})/)![1]!;
  await expect(page.locator("#summary")).toContainText(/pending/i);

  const worker = runWorker(agent, ["sh", "-c", AGENT]);
  try {
    await api().untilStatus(id, "completed");
    // With scripts the page updates itself; without scripts a reload shows the same.
    if (info.project.name === "no-js") await page.reload();
    await expect(page.locator("#summary")).toContainText(/completed/i);
    await expect(page.locator("#main, main")).toContainText("Counted two words.");
    await expect(page.locator("main strong", { hasText: "two" }).first()).toBeVisible();
    await expect(page.locator("main")).toContainText("count_words");
    await expect(page.locator("main")).toContainText("a note for the operator");
  } finally {
    await worker.stop();
  }
  const session = await api().session(id);
  expect(session.result).toEqual({ text: "2 words", words: 2 });
  expect(session.attempt).toBe(1);
});

test("rows that arrive while the reader is elsewhere do not move the page", async ({ page }) => {
  const operator = api();
  const action = await operator.createAction({ name: "Long talk", agentSlug: "talker" });
  const session = await operator.trigger(action.id);
  const claim = await operator.claim("talker", 600);
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => ({ type: "agent.message", content: [{ type: "text", text: `line ${from + n}` }] }));
  await operator.append(session.id, claim.attempt, lines(0, 120));
  await signIn(page, "operator");
  await page.goto(`/sessions/${session.id}`);
  // The page goes to its newest event first.
  await hydrated(page);
  await expect(page.getByText("line 119", { exact: true })).toBeAttached();
  await page.evaluate(() => window.scrollTo(0, 0));
  const before = await page.evaluate(() => window.scrollY);
  await operator.append(session.id, claim.attempt, lines(120, 125));
  await expect(page.getByText("line 124", { exact: true })).toBeAttached();
  expect(await page.evaluate(() => window.scrollY)).toBe(before);
  await operator.complete(session.id, claim.attempt);
  await expect(page.locator("#summary")).toContainText(/completed/i);
});

test("what was recorded between a page and its stream is shown when the stream opens", async ({ page }) => {
  const operator = api();
  const agent = `late-${Date.now().toString(36)}`;
  const action = await operator.createAction({ name: `Late ${agent}`, agentSlug: agent });
  const session = await operator.trigger(action.id);
  const claim = await operator.claim(agent, 600);
  await signIn(page, "operator");
  let open = () => {};
  const opened = new Promise<void>((done) => (open = done));
  await page.route("**/api/live", async (route) => {
    await opened;
    await route.continue();
  });
  await page.goto(`/sessions/${session.id}`);
  await hydrated(page);
  await operator.append(session.id, claim.attempt, [{ type: "agent.message", content: [{ type: "text", text: "said in between" }] }]);
  open();
  await expect(page.getByText("said in between", { exact: true })).toBeVisible();
  await operator.complete(session.id, claim.attempt);
  await expect(page.locator("#summary")).toContainText(/completed/i);
});

test("what came up between Today and its stream is counted and listed when the stream opens", async ({ page }) => {
  await signIn(page, "reviewer");
  const me = (await (await page.context().request.get(`${environment().url}/api/me`)).json()) as { user: { id: string } };
  let open = () => {};
  const opened = new Promise<void>((done) => (open = done));
  await page.route("**/api/live", async (route) => {
    await opened;
    await route.continue();
  });
  await page.goto("/today?bucket=delegatable");
  const count = page.locator("[data-bucket=delegatable] .strip-count");
  await expect(count).toHaveText(/^\d+$/);
  const delegatable = Number(await count.textContent());
  const name = `Ready meanwhile ${Date.now().toString(36)}`;
  await api().createAction({ name, agentSlug: "delegate", assignedTo: me.user.id });
  open();
  await expect(count).toHaveText(String(delegatable + 1));
  await expect(page.locator(".row", { hasText: name })).toBeVisible();
});

test("Today shows a list that was hidden as it is now, and its figure follows", async ({ page }) => {
  await signIn(page, "reviewer");
  const me = (await (await page.context().request.get(`${environment().url}/api/me`)).json()) as { user: { id: string } };
  const ready = async () => {
    const name = `Ready ${Date.now().toString(36)}`;
    await api().createAction({ name, agentSlug: "delegate", assignedTo: me.user.id });
    return name;
  };
  await page.goto("/today");
  await hydrated(page);
  await expect(page.locator(".connection")).toHaveText("Live");
  const count = page.locator("[data-bucket=delegatable] .strip-count");
  const section = page.locator("[data-section=delegatable]");
  const rows = section.locator(".row");
  const delegatable = Number(await count.textContent());
  await page.locator("[data-bucket=failed]").click();
  await expect(section).toBeHidden();
  const first = await ready();
  await expect(count).toHaveText(String(delegatable + 1));
  // No further signal comes.
  await page.locator("[data-bucket=failed]").click();
  await expect(rows.filter({ hasText: first })).toBeVisible();
  const second = await ready();
  await expect(rows.filter({ hasText: second })).toBeVisible();
  await expect(section.locator(".section-head .meta")).toHaveText(String(await rows.count()));
});

test("the strip says since when, and in which hours of the day", async ({ page }) => {
  await signIn(page, "operator");
  const me = (await (await page.context().request.get(`${environment().url}/api/me`)).json()) as { user: { id: string } };
  const agent = `strip-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Strip ${agent}`, agentSlug: agent, assignedTo: me.user.id });
  const take = async () => {
    const session = await api().trigger(action.id);
    return { id: session.id, attempt: (await api().claim(agent, 600)).attempt };
  };
  const failing = await take();
  await api().fail(failing.id, failing.attempt, "No such supplier.");
  const waiting = await take();
  await api().post(`/api/sessions/${waiting.id}/yield`, { attempt: waiting.attempt, status: "waiting_human" });
  await page.goto("/today");
  for (const [bucket, words] of [["failed", /^last .+/], ["needs_me", /^oldest \S+/], ["delegatable", "tasks that name an agent"]] as const) {
    await expect(page.locator(`[data-bucket=${bucket}] .strip-sub`)).toHaveText(words);
  }
  // Midnight may have passed in between; the current hour has started in any case.
  await expect(page.locator("[data-bucket=failed] .strip-day [data-hour=some]")).not.toHaveCount(0);
});

test("what is recorded while the first read of the tail is on its way is shown without a further signal", async ({ page }) => {
  const operator = api();
  const agent = `meanwhile-${Date.now().toString(36)}`;
  const action = await operator.createAction({ name: `Meanwhile ${agent}`, agentSlug: agent });
  const session = await operator.trigger(action.id);
  const claim = await operator.claim(agent, 600);
  await signIn(page, "operator");
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  let markRequested = () => {};
  const requested = new Promise<void>((done) => (markRequested = done));
  // The server answers the first read at once, and the test delays the response until another event is recorded. The
  // route stays active until the end: a request made while a route is removed may be lost.
  let reads = 0;
  await page.route("**/rows?*", async (route) => {
    reads += 1;
    if (reads > 1) {
      await route.continue();
      return;
    }
    const response = await route.fetch();
    markRequested();
    await released;
    await route.fulfill({ response });
  });
  // The header is read twice: when the stream opens, and after the next event.
  const isSummary = (response: { url(): string }) => response.url().endsWith("/summary");
  const opened = page.waitForResponse(isSummary);
  // The page reads again on opening the stream only if something changed since it was rendered.
  let open = () => {};
  const mayOpen = new Promise<void>((done) => (open = done));
  await page.route("**/api/live", async (route) => {
    await mayOpen;
    await route.continue();
  });
  await page.goto(`/sessions/${session.id}`);
  await operator.append(session.id, claim.attempt, [{ type: "agent.message", content: [{ type: "text", text: "said before" }] }]);
  open();
  await Promise.all([requested, opened]);
  const summary = page.waitForResponse(isSummary);
  await operator.append(session.id, claim.attempt, [{ type: "agent.message", content: [{ type: "text", text: "said meanwhile" }] }]);
  await summary;
  release();
  await expect(page.getByText("said meanwhile", { exact: true })).toBeVisible();
  await operator.complete(session.id, claim.attempt);
});

test("a new sign-in in another tab brings the live updates of all tabs back", async ({ page, context }) => {
  const connection = (tab: Page) => expect(tab.locator(".connection"));
  await signIn(page, "operator");
  await page.goto("/today");
  await connection(page).toHaveText("Live");
  await context.clearCookies();
  // The stream is opened again, without the sign-in.
  await context.setOffline(true);
  await connection(page).toContainText("Offline");
  await context.setOffline(false);
  await connection(page).toContainText("Signed out");
  await signIn(page, "operator");
  const other = await context.newPage();
  await other.goto("/today");
  await connection(other).toHaveText("Live");
  await connection(page).toHaveText("Live");
});

test("a stream that neither opens nor fails is given up and asked for again", async ({ page }) => {
  await signIn(page, "operator");
  await page.clock.install();
  let swallowed = () => {};
  const isSwallowed = new Promise<void>((done) => (swallowed = done));
  await page.route("**/api/live", () => swallowed(), { times: 1 });
  await page.goto("/today");
  await isSwallowed;
  await expect(page.locator(".connection")).toHaveText("Connecting");
  await page.clock.fastForward(16_000);
  await expect(page.locator(".connection")).toHaveText("Reconnecting");
  await page.clock.fastForward(1_000);
  await expect(page.locator(".connection")).toHaveText("Live");
});

test("a tab that takes the stream over from a closed one shows what happened in between", async ({ page, context }) => {
  const action = await api().createAction({ name: "Handed over", agentSlug: "handed-over" });
  const session = await api().trigger(action.id);
  const claim = await api().claim("handed-over", 600);
  await signIn(page, "operator");
  await page.goto("/today");
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const other = await context.newPage();
  await other.goto(`/sessions/${session.id}`);
  await hydrated(other);
  await expect(other.locator(".connection")).toHaveAttribute("data-state", "live");
  await expect(other.locator("#summary")).toContainText(/running/i);

  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  await context.route("**/api/live", async (route) => {
    await released;
    await route.continue();
  });
  const asked = other.waitForRequest("**/api/live");
  await page.close();
  await asked;
  await api().complete(session.id, claim.attempt, { text: "Done meanwhile" });
  release();
  await expect(other.locator("#summary")).toContainText(/completed/i);
});
