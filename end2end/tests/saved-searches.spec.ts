/** Saved searches: saving the line of the list of sessions, opening it again, renaming and deleting it. */
import { expect, expectAccessible, signIn, test } from "../support";

test("a search is saved, opened again and deleted @nojs", async ({ page }) => {
  const name = `Broken ${Date.now().toString(36)}`;
  await signIn(page, "operator");
  await page.goto("/sessions?q=STATUS%3Afailed");
  await page.getByRole("link", { name: "Save search" }).click();
  await expect(page.getByLabel("Search", { exact: true })).toHaveValue("status:failed");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("1 to 200 characters", { exact: false })).toBeVisible();
  await expect(page.getByLabel("Search", { exact: true }), "what was typed stays").toHaveValue("status:failed");
  await expectAccessible(page, "a refused saved search");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByRole("row", { name })).toContainText("Only you");
  await expectAccessible(page, "saved searches");
  await page.setViewportSize({ width: 360, height: 740 });
  await expectAccessible(page, "saved searches, on a phone");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  expect(overflow, "the page is as wide as the screen").toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/sessions");
  await page.getByRole("navigation", { name: "Saved searches" }).getByRole("link", { name }).click();
  await expect(page).toHaveURL(/\/sessions\?q=status%3Afailed$/);
  await expect(page.getByRole("link", { name })).toHaveAttribute("aria-current", "true");
  await page.goto("/sessions/saved");
  const renamed = `Burnt ${name}`;
  const row = page.getByRole("row", { name });
  await row.locator("summary").click();
  await row.getByLabel("New name").fill(renamed);
  await expectAccessible(page, "a saved search with its other name");
  await row.getByRole("button", { name: `Rename ${name}` }).click();
  await expect(page.getByText("Renamed.")).toBeVisible();
  await page.getByRole("button", { name: `Delete ${renamed}` }).click();
  await expect(page.getByText("Saved search deleted.")).toBeVisible();
  await expect(page.getByRole("row", { name })).toHaveCount(0);
});
