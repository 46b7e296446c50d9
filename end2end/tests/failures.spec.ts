/** Failures as causes: by keyboard, with plain forms, on a phone, and for axe. */
import type { Page } from "@playwright/test";
import { letters } from "../questions";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

/** Fails as many sessions, each with a message of its own that differs in a number. Returns their ids and the word. */
async function fail(count: number) {
  const about = letters();
  const agent = `failing-${about}`;
  const action = await api().createAction({ name: `Failing ${about}`, agentSlug: agent });
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    const { id } = await api().trigger(action.id);
    const claim = await api("worker").claim(agent);
    await api("worker").fail(id, claim.attempt, `token ${number} of ${about} expired`);
    ids.push(id);
  }
  return { about, ids };
}

test("causes are marked as seen by keyboard", async ({ page }) => {
  const { about } = await fail(2);
  await signIn(page, "operator");
  await page.goto("/failures?window=24h&state=open");
  await hydrated(page);
  const title = page.locator(".row-title", { hasText: about });
  await expect(title).toContainText("token ‹number› of");
  const rows = page.locator(".row-title");
  const titles = await rows.allTextContents();
  const at = titles.findIndex((text) => text.includes(about));
  for (let step = 0; step <= at; step += 1) await page.keyboard.press("j");
  await expect(title).toBeFocused();
  await page.keyboard.press("a");
  await expect(page.getByText("Marked as seen.")).toBeVisible();
  await expect(page.locator(".row-title", { hasText: about })).toHaveCount(0);
  await hydrated(page);
  await page.keyboard.press("z");
  await expect(page.locator(".row-title", { hasText: about })).toHaveCount(1);
  await hydrated(page);
  await page.locator(".row-title", { hasText: about }).focus();
  await page.keyboard.press("e");
  await expect(page.locator(".row-title", { hasText: about })).toHaveCount(0);

  await page.goto("/failures?window=24h&state=acknowledged");
  await hydrated(page);
  await page.locator(".row-title", { hasText: about }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText(about);
  await hydrated(page);
  await page.keyboard.press("z");
  await expect(page.getByText("The cause is open again.")).toBeVisible();
  await hydrated(page);
  await page.locator(".cause-session .row-title").first().focus();
  await page.keyboard.press("x");
  await page.keyboard.press("R");
  await expect(page.getByText("1 session would run again as a new session.")).toBeVisible();
});

test("a failed session leads to the others, and selected ones are run again after a preview @nojs", async ({ page }) => {
  const { about, ids } = await fail(3);
  await signIn(page, "operator");
  await page.goto(`/sessions/${ids[0]}`);
  await page.getByRole("link", { name: "2 more like this" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText(about);
  await page.locator(`input[name="items[${ids[1]}]"]`).check();
  await page.getByRole("button", { name: "Run selected again…" }).click();
  await expect(page.getByText("1 session would run again as a new session.")).toBeVisible();
  await page.getByRole("button", { name: "Run 1 again" }).click();
  await expect(page.getByText("1 session runs again.")).toBeVisible();
  await page.getByRole("link", { name: "Runs again" }).click();
  await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]{36}$/);

  // The rest of the time range, which leaves out what was run again.
  await page.goto(`/sessions/${ids[0]}`);
  await page.getByRole("link", { name: "2 more like this" }).click();
  await page.getByRole("button", { name: "Run again…", exact: true }).click();
  await page.getByRole("button", { name: "Run 2 again" }).click();
  await expect(page.getByText("2 sessions run again.")).toBeVisible();
});

test("the failures of several causes are run again after one preview @nojs", async ({ page }) => {
  const causes = [await fail(2), await fail(1)];
  await signIn(page, "operator");
  await page.goto("/failures?window=24h&state=open");
  for (const { about } of causes) await page.locator("li.cause", { hasText: about }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Run selected again…" }).click();
  await expect(page.getByText("3 sessions of 2 causes would run again as new sessions.")).toBeVisible();
  for (const { about } of causes) await expect(page.getByRole("link", { name: about })).toBeVisible();
  await page.getByRole("button", { name: "Run 3 again" }).click();
  await expect(page.getByText("3 sessions: 3 are run again.")).toBeVisible();
});

async function expectFits(page: Page, width: number) {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow, `at ${width}`).toBeLessThanOrEqual(0);
}

test("the pages fit, and axe finds nothing", async ({ page }) => {
  const { about } = await fail(2);
  await signIn(page, "operator");
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("/failures?window=24h&state=open");
    await hydrated(page);
    await expectAccessible(page);
    await page.locator(".row-title", { hasText: about }).click();
    await expect(page.getByRole("heading", { level: 1 })).toContainText(about);
    await hydrated(page);
    await expectAccessible(page);
    await expectFits(page, width);
    await page.getByRole("button", { name: "Run again…", exact: true }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Run again?");
    await hydrated(page);
    await expectAccessible(page, "the preview");
    await expectFits(page, width);
  }
});
