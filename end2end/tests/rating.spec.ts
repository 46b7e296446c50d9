/** The rating of a session: asked after the session has completed, answered with one click, and can be undone. */
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

async function running(name: string) {
  const operator = api();
  const agent = `rated-${name}-${Date.now().toString(36)}`;
  const action = await operator.createAction({ name: `Rated ${agent}`, agentSlug: agent });
  const { id } = await operator.trigger(action.id);
  const { attempt } = await operator.claim(agent, 600);
  return { id, attempt };
}

/** Counts how often a document is loaded. */
function documents(page: Page) {
  const loaded: string[] = [];
  page.on("request", (request) => void (request.resourceType() === "document" && loaded.push(request.url())));
  return loaded;
}

/** Holds back the part that handles the panel until the returned function is called. */
async function holdBack(page: Page) {
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route("**/pkg/live_transcript.*.wasm", async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

/** Has the page read again what the server says. */
const readAgain = (page: Page) =>
  page.evaluate(() => {
    const stream = new BroadcastChannel("shiftbook-live");
    stream.postMessage("resync");
    stream.close();
  });

const own = (id: string) => `/api/sessions/${id}/feedback`;

/** The rating of the signed-in person, read from the API. */
async function ratingOf(page: Page, id: string) {
  const response = await page.request.get(own(id));
  return ((await response.json()) as { label: string | null }).label;
}

test("a person is asked when the work has ended, answers, takes it back and waves it aside @nojs", async ({ page }, info) => {
  const scripts = info.project.name === "js";
  const { id, attempt } = await running(info.project.name);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  const question = page.getByText("Did this help?");
  await expect(page.locator("#summary")).toContainText(/running/i);
  await expect(question).toHaveCount(0);

  await api().complete(id, attempt);
  // With scripts the open page asks; without scripts the next page load does.
  if (!scripts) await page.reload();
  await expect(question).toBeVisible();
  const loaded = documents(page);
  const press = async (key: string, button: string) =>
    scripts ? page.keyboard.press(key) : page.locator("#rating").getByRole("button", { name: button }).click();

  await press("y", "Yes");
  await expect(page.locator("#rating")).toContainText("Thank you. You said that this helped.");
  await expect(question).toHaveCount(0);
  expect(await ratingOf(page, id)).toBe("positive");
  await press("z", "Undo");
  await expect(question).toBeVisible();
  expect(await ratingOf(page, id)).toBeNull();

  for (const [key, button, label, words] of [
    ["n", "No", "negative", "did not help"],
    ["s", "Skip", "skip", "skipped"],
  ] as const) {
    await press(key, button);
    await expect(page.locator("#rating")).toContainText(words);
    expect(await ratingOf(page, id)).toBe(label);
    await press("z", "Undo");
    await expect(question).toBeVisible();
  }

  await press("d", "Dismiss the question");
  await expect(page.locator("#rating")).toHaveCount(0);
  if (scripts) expect(loaded, "the page changes in place").toEqual([]);
  await page.reload();
  await expect(page.locator("#summary")).toContainText(/completed/i);
  await expect(page.locator("#rating")).toHaveCount(0);
  expect(await ratingOf(page, id)).toBeNull();

  // Another person is still asked.
  await page.context().clearCookies({ name: /session/ });
  await signIn(page, "reviewer");
  await page.goto(`/sessions/${id}`);
  await expect(question).toBeVisible();
});

test("the question has no axe violation and fits a phone", async ({ page }) => {
  const { id, attempt } = await running("looks");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  for (const answered of [false, true]) {
    await page.goto(`/sessions/${id}`);
    if (answered) await page.locator("#rating").getByRole("button", { name: "Yes" }).click();
    await expect(page.locator("#rating")).toContainText(answered ? "Thank you." : "Did this help?");
    await expectAccessible(page);
  }
});

test("keys that answer are listed, and letters typed into a field answer nothing", async ({ page }) => {
  const { id, attempt } = await running("keys");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("yns");
  await page.keyboard.press("Escape");
  expect(await ratingOf(page, id)).toBeNull();
  await page.keyboard.press("?");
  for (const words of ["Rating: it helped", "Rating: it did not help", "Rating: skip the question", "Rating: undo it"]) {
    await expect(page.getByRole("dialog")).toContainText(words);
  }
});

test("a key that is pressed before the panel has loaded rates the session, and loading moves nothing", async ({ page }) => {
  const { id, attempt } = await running("early");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  const release = await holdBack(page);
  await page.goto(`/sessions/${id}`);
  await expect(page.locator(".connection-word")).toContainText("Live");
  const places = () =>
    page.locator("#rating, #rating button, .transcript-bar, #transcript").evaluateAll((all) =>
      all.map((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return [left, top + window.scrollY, width, height].map(Math.round).join(" ");
      }),
    );
  const before = await places();
  expect(before.length).toBeGreaterThan(4);
  release();
  await hydrated(page);
  expect(await places()).toEqual(before);

  await page.unrouteAll();
  const releaseAgain = await holdBack(page);
  await page.reload();
  await expect(page.locator(".connection-word")).toContainText("Live");
  const loaded = documents(page);
  await page.keyboard.press("n");
  await expect(page.locator("html")).not.toHaveAttribute("data-ready");
  releaseAgain();
  await expect(page.locator("#rating")).toContainText("You said that this did not help.");
  expect(await ratingOf(page, id)).toBe("negative");
  expect(loaded).toEqual([]);
});

test("a rating that cannot be sent says so, and the focus stays in the panel", async ({ page }) => {
  const { id, attempt } = await running("offline");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  await page.route("**/fn/session/rate", (route) => route.abort(), { times: 1 });
  const rating = page.locator("#rating");
  await rating.getByRole("button", { name: "Yes" }).click();
  await expect(rating.getByRole("status")).toHaveText("The server cannot be reached. Did this help?");
  expect(await ratingOf(page, id)).toBeNull();
  await rating.getByRole("button", { name: "Yes" }).click();
  await expect(rating.getByRole("status")).toHaveText("Thank you. You said that this helped.");
  await expect(rating.getByRole("button", { name: "Undo" })).toBeFocused();
});

test("after an answer was lost the panel follows the server again", async ({ page }) => {
  const { id, attempt } = await running("lost");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  // The server records the rating, and the browser never hears of it.
  await page.route(
    "**/fn/session/rate",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  const rating = page.locator("#rating");
  await rating.getByRole("button", { name: "Yes" }).click();
  await expect(rating.getByRole("status")).toHaveText("The server cannot be reached. Did this help?");
  expect(await ratingOf(page, id)).toBe("positive");
  await readAgain(page);
  await expect(rating.getByRole("status")).toHaveText("Thank you. You said that this helped.");
});

test("what was read before a call that failed is not shown after it", async ({ page, context }) => {
  const { id, attempt } = await running("stale");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  const rating = page.locator("#rating");
  const words = rating.getByRole("status");

  // The answer of the server is from before the call, and comes after it.
  const other = await context.newPage();
  await other.goto(`/sessions/${id}`);
  await hydrated(other);
  await other.locator("#rating").getByRole("button", { name: "No" }).click();
  await expect(other.locator("#rating")).toContainText("did not help");
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  let asked = () => {};
  const isAsked = new Promise<void>((done) => (asked = done));
  // The routes stay: Playwright lets held requests go when the last route of a page ends.
  let isFirst = true;
  await page.route(`**/sessions/${id}/summary*`, async (route) => {
    if (!isFirst) return route.continue();
    isFirst = false;
    const response = await route.fetch();
    asked();
    await released;
    await route.fulfill({ response });
  });
  await readAgain(page);
  await isAsked;
  await page.route("**/fn/session/rate", (route) => route.abort());
  await rating.getByRole("button", { name: "Yes" }).click();
  await expect(words).toHaveText("The server cannot be reached. Did this help?");
  const shown = page.waitForResponse(`**/sessions/${id}/summary*`);
  release();
  await (await shown).finished();
  await expect(words).toHaveText("The server cannot be reached. Did this help?");

  // The next answer is shown.
  await readAgain(page);
  await expect(words).toHaveText("Thank you. You said that this did not help.");
});

test("a question that goes away moves the focus to the heading, and screen readers hear of it", async ({ page, context }) => {
  await signIn(page, "operator");
  const heading = page.getByRole("heading", { level: 1 });
  const closed = page.getByRole("status").filter({ hasText: "You are no longer asked whether this helped." });
  const dismiss = (at: Page) => at.locator("#rating").getByRole("button", { name: "Dismiss the question" });
  for (const where of ["here", "in another tab"]) {
    const { id, attempt } = await running("focus");
    await api().complete(id, attempt);
    await page.goto(`/sessions/${id}`);
    await hydrated(page);
    await expect(closed).toHaveCount(0);
    await dismiss(page).focus();
    if (where === "here") {
      await page.keyboard.press("Enter");
    } else {
      const other = await context.newPage();
      await other.goto(`/sessions/${id}`);
      await hydrated(other);
      await dismiss(other).click();
      await expect(other.locator("#rating")).toHaveCount(0);
      await other.close();
      await readAgain(page);
    }
    await expect(page.locator("#rating")).toHaveCount(0);
    await expect(heading).toBeFocused();
    await expect(closed).toHaveCount(1);
  }
});
