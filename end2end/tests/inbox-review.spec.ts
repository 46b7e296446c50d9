/** The table of alike items: by mouse and by keys, with and without scripts. */
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, expectAccessibleAsWide, hydrated, signIn, test } from "../support";

let numbers = 0;

interface Item {
  id: string;
  sessionId: string;
  similarKey: string;
}

/** Lets an agent of its own ask for refunds of these amounts. Returns the items in this order. */
async function refunds(amounts: number[]) {
  numbers += 1;
  const agent = `review-bot-${Date.now().toString(36)}-${numbers}`;
  const sessions: string[] = [];
  for (const amount of amounts) {
    await api().post("/api/sessions", { sessionType: "agent", agentSlug: agent });
    const { session, attempt } = await api().claim(agent, 600);
    const pausedToolCall = { toolCallId: "c", toolName: "refund", toolInput: { amount, charge: `ch_${sessions.length}` } };
    await api().post(`/api/sessions/${session.id}/yield`, { attempt, status: "awaiting_tool", pausedToolCall });
    sessions.push(session.id);
  }
  const { items } = await api().get<{ items: Item[] }>("/api/approvals?assignedTo=all&limit=1000");
  return sessions.map((id) => items.find((item) => item.sessionId === id)!);
}

async function decisionOf(id: string) {
  interface Decided { approval: { state: string; decision: { decision: string; value: { amount?: number } | null } | null } }
  const { approval } = await api().get<Decided>(`/api/approvals/${id}`);
  return { state: approval.state, said: approval.decision?.decision, amount: approval.decision?.value?.amount };
}

const row = (page: Page, item: Item) => page.locator(`tr[data-id="${item.id}"]`);
const box = (page: Page, item: Item) => row(page, item).getByRole("checkbox");
const cell = (page: Page, item: Item) => page.locator(`[name="value.${item.id}.amount"]`);

test.use({ undoSeconds: 60 });

test("a group is reviewed as a table, a cell is edited and the rest is undone @nojs", async ({ page }) => {
  const items = await refunds([5, 6, 7, 900]);
  await signIn(page, "reviewer");
  await page.goto("/inbox");
  await page.locator(`[href="/inbox/review?group=${items[0]!.similarKey}"]`).click();
  await expect(page.locator("h1")).toHaveText("4 refund calls");
  await expect(page.locator(".review-figures")).toContainText("Amount 5 to 900, sum 918");
  await expect(box(page, items[3]!)).not.toBeChecked();
  await expect(page.locator("#notable-title ~ .selection-scroll tr[data-id]")).toHaveCount(1);
  for (const item of items.slice(0, 3)) await expect(box(page, item)).toBeChecked();
  await expectAccessible(page, "the table");

  await cell(page, items[2]!).fill("77");
  await box(page, items[0]!).uncheck();
  await page.getByRole("button", { name: "Amount" }).last().click();
  await expect(page.locator("th[aria-sort=ascending]").first()).toHaveText("Amount");
  await expect(cell(page, items[2]!), "what was typed stays").toHaveValue("77");
  await expect(box(page, items[0]!)).not.toBeChecked();
  await box(page, items[0]!).check();
  await cell(page, items[2]!).fill("7");
  await cell(page, items[0]!).fill("many");
  await cell(page, items[1]!).fill("66");
  await page.locator("[data-key=approve]").click();
  await expect(row(page, items[0]!)).toContainText("Enter a number.");
  await expect(cell(page, items[1]!)).toHaveValue("66");
  await expectAccessible(page, "the table with an error");
  await cell(page, items[0]!).fill("5");
  await page.locator("[data-key=approve]").click();
  await expect(page).toHaveURL(/\/inbox\/review\/result\?/);
  await expect(page.locator("main")).toContainText("You decided 3 items.");
  expect(await decisionOf(items[1]!.id)).toEqual({ state: "held", said: "edit", amount: 66 });
  expect((await decisionOf(items[3]!.id)).state).toBe("open");
  await expectAccessible(page, "the result");

  await page.getByRole("button", { name: "Undo 3 decisions" }).click();
  await expect(page.locator("h1")).toHaveText("4 refund calls");
  expect((await decisionOf(items[1]!.id)).state).toBe("open");
});

test("rows are left out and decided by keys", async ({ page }) => {
  const items = await refunds([5, 6, 7]);
  await signIn(page, "reviewer");
  await page.goto(`/inbox/review?group=${items[0]!.similarKey}&sort=amount`);
  await hydrated(page);
  await page.keyboard.press("j");
  await expect(row(page, items[0]!).getByRole("link")).toBeFocused();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(box(page, items[1]!)).not.toBeChecked();
  await expect(box(page, items[0]!)).toBeChecked();
  await page.keyboard.press("a");
  await expect(page.locator("main")).toContainText("You decided 2 items.");
  expect((await decisionOf(items[1]!.id)).state).toBe("open");
  expect((await decisionOf(items[2]!.id)).said).toBe("approve");
});

test("more than twenty items are asked back with their figures @nojs", async ({ page }) => {
  test.slow();
  const items = await refunds([...Array(21).keys()].map((n) => 100 + n));
  await signIn(page, "reviewer");
  await page.goto(`/inbox/review?group=${items[0]!.similarKey}`);
  await page.locator("[data-key=approve]").click();
  await expect(page.locator("main")).toContainText("Approve 21 items? Amount 100 to 120, sum 2,310.");
  expect((await decisionOf(items[0]!.id)).state).toBe("open");
  // All rows are above the bar: of one that it half covers, only a part is a touch target.
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 3600 });
    await expectAccessibleAsWide(page);
  }
  await page.setViewportSize({ width: 1280, height: 720 });
  await page.getByRole("button", { name: "Yes, approve" }).click();
  await expect(page.locator("main")).toContainText("You decided 21 items.");
});
