/** The list of sessions: its order, its columns, and how dense its rows are. */
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

/** Two ended sessions of an agent: the first one is dear, the second one is cheap. */
async function dearAndCheap(agent: string) {
  const action = await api().createAction({ name: `Sorted ${agent}`, agentSlug: agent });
  const ids: string[] = [];
  for (const costUsd of [2.5, 0.25]) {
    const { id } = await api().trigger(action.id);
    const { attempt } = await api().claim(agent, 600);
    await api().post(`/api/sessions/${id}/complete`, { attempt, usage: { inputTokens: 10, outputTokens: 5, costUsd } });
    ids.push(id);
  }
  return { action, dear: ids[0]!, cheap: ids[1]! };
}

test("headings sort the list, and a search keeps the order @nojs", async ({ page }) => {
  const agent = `sorted-${Date.now().toString(36)}`;
  const { dear, cheap } = await dearAndCheap(agent);
  await signIn(page, "operator");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/sessions?q=agent%3A${agent}`);
  const first = page.locator("[data-session-id]").first();
  await expect(first).toHaveAttribute("data-session-id", cheap);
  await expect(page.getByRole("columnheader", { name: "Created" })).toHaveAttribute("aria-sort", "descending");
  await page.getByRole("columnheader", { name: "Cost" }).getByRole("link").click();
  await expect(page).toHaveURL(/sort=cost/);
  await expect(first).toHaveAttribute("data-session-id", dear);
  await expect(page.getByRole("columnheader", { name: "Cost" })).toHaveAttribute("aria-sort", "descending");
  await expectAccessible(page, "a list in order of cost");
  await page.getByLabel("Search sessions").fill(`agent:${agent} cost<1`);
  await page.getByLabel("Search sessions").press("Enter");
  await expect(page).toHaveURL(/sort=cost/);
  await expect(page.locator("[data-session-id]")).toHaveCount(1);
  // On a phone, where a table has no headings, the orders are below "View".
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`/sessions?q=agent%3A${agent}`);
  await page.locator("summary", { hasText: "View" }).click();
  await expectAccessible(page, "the orders on a phone");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(overflow, "the page is as wide as the screen").toBe(false);
  await page.getByRole("navigation", { name: "Order" }).getByRole("link", { name: "Oldest" }).click();
  await expect(first).toHaveAttribute("data-session-id", dear);
  await page.goto("/sessions?sort=title");
  await expect(page.getByText("newest, oldest, duration, cost, activity")).toBeVisible();
  await expectAccessible(page, "a refused order");
});

test("columns and density are chosen, kept, and used for rows that change", async ({ page }) => {
  const agent = `columns-${Date.now().toString(36)}`;
  const { action } = await dearAndCheap(agent);
  await signIn(page, "operator");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`/sessions?q=agent%3A${agent}`);
  await page.locator("summary", { hasText: "View" }).click();
  await page.getByLabel("Type", { exact: true }).uncheck();
  await page.getByLabel("Started by").check();
  await page.getByLabel("Tokens").check();
  await page.getByLabel("Compact").check();
  await expectAccessible(page, "the columns");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`q=agent%3A${agent}$`));
  const heads = page.getByRole("columnheader");
  const chosen = ["Select", "Status", "Title", "Agent", "Started by", "Created", "Duration", "Events", "Tokens", "Cost"];
  await expect(heads).toHaveText(chosen);
  const { id } = await api().trigger(action.id);
  await page.goto(`/sessions?q=agent%3A${agent}`);
  await hydrated(page);
  await expect(heads).toHaveText(chosen);
  const row = page.locator(`[data-session-id="${id}"]`);
  await expect(row.locator(".row-sub")).toBeHidden();
  const { attempt } = await api().claim(agent, 600);
  await api().post(`/api/sessions/${id}/complete`, { attempt, usage: { inputTokens: 1234 } });
  await expect(row).toContainText("1,234 in");
  await expect(row.locator("td")).toHaveCount(chosen.length);
  await expectAccessible(page, "a list with other columns");
});
