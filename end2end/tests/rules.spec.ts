/** Rules: suggested after many approvals, tested, created, changed and suspended, with and without scripts. */
import type { Page } from "@playwright/test";
import { api, environment, expect, expectAccessible, signIn, test } from "../support";

let numbers = 0;

/** Lets an agent ask for refunds of these amounts. Returns the ids of the items. */
async function refunds(agent: string, amounts: number[]) {
  const worker = api();
  const ids: string[] = [];
  for (const amount of amounts) {
    await worker.post("/api/sessions", { sessionType: "agent", agentSlug: agent });
    // A session whose refund was approved is in the queue again, and comes first.
    const { session, attempt } = await worker.claim(agent, 600);
    const { id } = session;
    const pausedToolCall = { toolCallId: "c", toolName: "refund", toolInput: { amount, currency: "EUR" } };
    await worker.post(`/api/sessions/${id}/yield`, { attempt, status: "awaiting_tool", pausedToolCall });
    const { items } = await worker.get<{ items: { id: string; sessionId: string }[] }>("/api/approvals?assignedTo=all&limit=1000");
    const item = items.find((one) => one.sessionId === id);
    if (item) ids.push(item.id);
  }
  return ids;
}

/** An agent whose 20 refunds the person of the page has approved. */
async function approved(page: Page) {
  numbers += 1;
  const agent = `refund-bot-${Date.now().toString(36)}-${numbers}`;
  const ids = await refunds(agent, [...Array(20).keys()].map((n) => n + 1));
  const decisions = ids.map((id) => ({ id, decision: "approve" }));
  const headers = { origin: environment().url };
  const answer = await page.request.post("/api/approvals/decisions", { data: { decisions }, headers });
  expect(answer.status()).toBe(200);
  return agent;
}

async function looksRight(page: Page, what: string) {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page, `${what}, ${width} px, ${colorScheme}`);
    }
    const overflows = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    expect(overflows, `${what} is wider than ${width} px`).toBe(false);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a rule is suggested, tested, created, changed, suspended and deleted @nojs", async ({ page }) => {
  test.slow();
  await signIn(page, "admin");
  const agent = await approved(page);
  const create = page.getByRole("link", { name: `Create a rule for refund calls of ${agent}` });
  await expect(async () => {
    await page.goto("/rules");
    await expect(create).toBeVisible({ timeout: 500 });
  }).toPass();
  await expect(page.locator("h1")).toHaveText("Rules");
  await expectAccessible(page, "the list with a suggestion");
  await looksRight(page, "the list with a suggestion");
  await create.click();
  await expect(page.locator("h1")).toHaveText("New rule");
  const facts = page.locator("#tested .facts");
  await expect(facts).toContainText("Would have differed0");
  await expect(page.locator("#tested tbody tr")).toHaveCount(20);
  await looksRight(page, "the editor with a back-test");

  await page.getByLabel("At most").first().fill("5");
  await page.getByLabel("Still ask, percent").fill("0");
  await page.getByRole("button", { name: "Test against 90 days" }).click();
  await expect(facts).toContainText("Agreed5");
  await expect(facts).toContainText("Would have asked15");
  await expect(page.getByLabel("At most").first()).toHaveValue("5");
  await expect(page.locator("#tested tbody a").first()).toHaveAttribute("href", /^\/sessions\//);
  await page.getByLabel("At most").first().fill("many");
  await page.getByRole("button", { name: "Create rule" }).click();
  await expect(page.getByText("Enter a number.")).toBeVisible();
  await looksRight(page, "the editor with an error");
  await page.getByLabel("At most").first().fill("5");
  await page.getByRole("button", { name: "Create rule" }).click();
  await expect(page.getByText("Rule saved.")).toBeVisible();
  await expect(page.locator(".facts").first()).toContainText("Active");

  expect(await refunds(agent, [5, 6]), "one of them waits for a person").toHaveLength(1);
  await page.reload();
  await expect(page.locator("#decisions tbody tr")).toHaveCount(1);
  await looksRight(page, "the page of a rule");
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Decisions a day").fill("7");
  await page.getByRole("button", { name: "Save new version" }).click();
  await expect(page.locator("#versions li")).toHaveCount(2);
  await page.getByRole("button", { name: "Suspend" }).click();
  await expect(page.getByText("An admin suspended it.")).toBeVisible();
  expect(await refunds(agent, [5])).toHaveLength(1);
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(page.locator(".facts").first()).toContainText("Active");
  await page.getByRole("button", { name: "Delete rule" }).click();
  await expect(page.getByText("Rule deleted.")).toBeVisible();
});

test("a denial suspends the rule, and its page leads to the item", async ({ page }) => {
  test.slow();
  await signIn(page, "admin");
  const agent = await approved(page);
  const [waiting] = await refunds(agent, [3]);
  await page.goto(`/rules/new?from=${waiting}`);
  await page.getByRole("button", { name: "Create rule" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Rule saved.")).toBeVisible();
  const headers = { origin: environment().url };
  const data = { decision: "deny", note: "Not this one." };
  expect((await page.request.post(`/api/approvals/${waiting}/decision`, { data, headers })).status()).toBe(200);
  await page.reload();
  await expect(page.getByText("A person decided an item differently.")).toBeVisible();
  await page.getByRole("link", { name: "The item" }).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/inbox/${waiting}$`));
});

test("members read rules and change none @nojs", async ({ page }) => {
  await signIn(page, "member");
  await page.goto("/rules");
  await expect(page.locator("h1")).toHaveText("Rules");
  const answer = await page.goto("/rules/new?from=01890a5d-ac96-774b-bcce-b302099a8057");
  expect(answer!.status()).toBe(403);
});
