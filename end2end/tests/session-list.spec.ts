/** The list of sessions, and the other lists: rows as links, and sessions that come while the list is open. */
import { api, expect, hydrated, signIn, test } from "../support";

test("a row of a list is a link as a whole", async ({ page }) => {
  const agent = `rows-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Rows ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  await signIn(page, "operator");
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("/sessions");
    await hydrated(page);
    const row = page.locator(`[data-session-id="${id}"]`);
    const box = (await row.boundingBox())!;
    await row.click({ position: { x: box.width - 6, y: box.height / 2 } });
    await expect(page, `at ${width}`).toHaveURL(new RegExp(`/sessions/${id}$`));
  }
  // The same on a list of another page: an agent with queued work is listed before anything of it has ended.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/agents");
  const row = page.getByRole("row", { name: new RegExp(agent) });
  await expect(row).toContainText("1 queued");
  const box = (await row.boundingBox())!;
  await row.click({ position: { x: box.width - 6, y: box.height / 2 } });
  await expect(page).toHaveURL(new RegExp(`/agents/${agent}$`));
});

test("sessions that come while the list is open are counted, and shown by one click", async ({ page }) => {
  const agent = `fresh-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Fresh ${agent}`, agentSlug: agent });
  await api().trigger(action.id);
  await signIn(page, "operator");
  await page.goto(`/sessions?agent=${agent}`);
  await hydrated(page);
  const fresh = page.locator("[data-fresh]");
  await expect(fresh).toBeHidden();
  await api().trigger(action.id);
  await expect(fresh).toHaveText("1 new");
  const { id } = await api().trigger(action.id);
  await expect(fresh).toHaveText("2 new");
  await fresh.click();
  await expect(page.locator(`[data-session-id="${id}"]`)).toBeVisible();
  await expect(page.locator("[data-session-id]")).toHaveCount(3);
  await expect(fresh).toBeHidden();
});
