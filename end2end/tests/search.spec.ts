/** The search over all events: the page, with and without scripts, and the way to it from the palette. */
import type { Page } from "@playwright/test";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

/** A running session whose agent said this. Returns its id. */
async function said(messages: string[]) {
  const agent = `search-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Search ${agent}`, agentSlug: agent });
  await api().trigger(action.id);
  const { session, attempt } = await api("worker").claim(agent);
  const event = (text: string) => ({ type: "agent.message", content: [{ type: "text", text }] });
  await api("worker").append(session.id, attempt, messages.map(event));
  return session.id;
}

/** Opens the page until the events are found: they are searchable a moment after they were recorded. */
async function found(page: Page, query: string) {
  await expect(async () => {
    await page.goto(`/search?${new URLSearchParams({ q: query })}`);
    await expect(page.locator(".search-event").first()).toBeVisible({ timeout: 500 });
  }).toPass();
}

test("an event is found by its words and opened at its place @nojs", async ({ page }) => {
  const word = `zebra${Date.now().toString(36)}`;
  const session = await said([`The ${word} was refunded`, "tea", `two ${word}`]);
  await signIn(page, "operator");
  await found(page, word);
  await expect(page.locator(".search-event")).toHaveCount(2);
  await expect(page.locator(".search-event mark").first()).toHaveText(word);
  await expectAccessible(page, "what a search found");
  await page.setViewportSize({ width: 360, height: 740 });
  await expectAccessible(page, "what a search found, on a phone");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(overflow, "the page is as wide as the screen").toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByLabel("Words to find").fill(`${word} refund -two`);
  await page.getByLabel("Words to find").press("Enter");
  await expect(page.locator(".search-event")).toHaveCount(1);
  await page.locator(".search-link").click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${session}\\?before=\\d+#seq-\\d+$`));
  await expect(page.locator(`:target`)).toContainText(word);
});

test("what is no search says where it is wrong @nojs", async ({ page }) => {
  await signIn(page, "operator");
  await page.goto("/search");
  await expect(page.getByRole("heading", { name: "What you can type" })).toBeVisible();
  await expectAccessible(page, "the search without words");
  await page.getByLabel("Words to find").fill('tea "open');
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.getByText("the quotation mark at character 5 has no second one")).toBeVisible();
  await expect(page.getByLabel("Words to find")).toHaveValue('tea "open');
  await expectAccessible(page, "a refused search");
});

test("the palette leads to the search for what was typed", async ({ page }) => {
  const word = `gnu${Date.now().toString(36)}`;
  await said([`a ${word} came by`]);
  await signIn(page, "operator");
  await found(page, word);
  await page.goto("/bundles");
  await hydrated(page);
  await page.keyboard.press("ControlOrMeta+k");
  await page.locator("#palette-input").fill(word);
  const last = page.locator("#palette-list [role=option]:visible").last();
  await expect(last).toContainText(`Search all events for “${word}”`);
  await last.click();
  await expect(page).toHaveURL(new RegExp(`/search\\?q=${word}$`));
  await expect(page.locator(".search-event mark")).toHaveText(word);
});
