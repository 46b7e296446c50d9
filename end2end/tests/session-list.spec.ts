/** The list of sessions, and the other lists: rows as links, and sessions that come while the list is open. */
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

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

test("the filter is one line on a desk, and one button with a count on a phone @nojs", async ({ page }) => {
  const agent = `filter-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Filter ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  await signIn(page, "operator");
  const filter = page.locator(".session-filter");
  const row = page.locator(`[data-session-id="${id}"]`);

  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/sessions?status=pending");
  await hydrated(page);
  const search = filter.getByRole("button", { name: "Search" });
  expect((await filter.boundingBox())!.height, "one line").toBeLessThan(44);
  await filter.getByLabel("Add an agent").fill(agent);
  await filter.getByText("Any day").click();
  await expect(filter.getByLabel("Ended on")).toBeVisible();
  await search.click();
  await expect(page).toHaveURL(new RegExp(`agent=${agent}`));
  await expect(row).toBeVisible();
  await expect(page.locator("[data-session-id]")).toHaveCount(1);
  await expect(filter.getByLabel("Search sessions")).toHaveValue(`agent:${agent} status:pending`);

  await page.setViewportSize({ width: 360, height: 740 });
  await hydrated(page);
  const fold = filter.locator(".filter-fold > summary");
  await expect(fold).toHaveText("Filter2 set");
  await expect(filter.getByLabel("Add a status")).toBeHidden();
  await expect(filter.getByLabel("Search sessions")).toBeVisible();
  expect((await row.boundingBox())!.y, "the list begins high").toBeLessThan(240);
  await expectAccessible(page, "the folded filter");
  await fold.click();
  await filter.getByLabel("Add a status").selectOption("failed");
  await expectAccessible(page, "the unfolded filter");
  await search.click();
  await expect(page).toHaveURL(/status=failed/);
  await expect(row, "one status more is one more way to be found").toBeVisible();
  const set = page.getByRole("list", { name: "Conditions" });
  await expect(set.getByRole("link")).toHaveText([`Remove agent:${agent}×`, "Remove status:pending,failed×"]);
  await set.getByRole("link", { name: "Remove status" }).click();
  await expect(page).toHaveURL(new RegExp(`\\?q=agent%3A${agent}$`));
  await expect(row).toBeVisible();
});

test("a line of conditions and words is typed, shown as it is understood, and refused by its place @nojs", async ({ page }) => {
  const agent = `line-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Line ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  await api().post(`/api/sessions/${id}/complete`, { attempt, usage: { costUsd: 0.75 } });
  await signIn(page, "operator");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/sessions");
  await hydrated(page);
  const line = page.getByLabel("Search sessions");
  const row = page.locator(`[data-session-id="${id}"]`);
  await line.fill(`COST>=0.50  agent:${agent} after:today -status:failed`);
  await line.press("Enter");
  await expect(row).toBeVisible();
  await expect(page.locator("[data-session-id]")).toHaveCount(1);
  await expect(line).toHaveValue(`agent:${agent} -status:failed cost>=0.5 after:today`);
  await expectAccessible(page, "a list with conditions");
  await line.fill(`agent:${agent} cost>2`);
  await line.press("Enter");
  await expect(page.getByText("No session matches the filter.")).toBeVisible();
  await line.fill("colour:red");
  await line.press("Enter");
  await expect(page.getByText("there is no field colour; the fields are agent, status")).toBeVisible();
  await expect(line).toHaveValue("colour:red");
  await expectAccessible(page, "a refused line");
  await page.setViewportSize({ width: 360, height: 740 });
  await expectAccessible(page, "a refused line on a phone");
  await page.getByRole("link", { name: "Clear" }).click();
  await expect(page).toHaveURL(/\/sessions$/);
});

test("the list of sessions is as wide as the window, and has columns for agent and cost", async ({ page }) => {
  const agent = `wide-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Wide ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  await api().post(`/api/sessions/${id}/complete`, { attempt, usage: { inputTokens: 10, outputTokens: 5, costUsd: 0.25 } });
  await signIn(page, "operator");
  await page.setViewportSize({ width: 1920, height: 900 });
  await page.goto(`/sessions?agent=${agent}`);
  const cell = async (column: string) => {
    const heads = await page.getByRole("columnheader").allTextContents();
    return page.locator(`[data-session-id="${id}"] td`).nth(heads.indexOf(column));
  };
  await expect(await cell("Agent")).toHaveText(agent);
  await expect(await cell("Cost")).toHaveText("$0.25");
  expect((await page.getByRole("table").boundingBox())!.width).toBeGreaterThan(1500);
});

test("days of the filter are those of the reader, whose browser says where they are", async ({ page }) => {
  await signIn(page, "operator");
  await page.goto("/sessions");
  await hydrated(page);
  await page.reload();
  const filter = page.locator(".session-filter");
  await filter.getByText("Any day").click();
  // Playwright's browser is in Berlin.
  await expect(filter.getByLabel("Ended on", { exact: true })).toBeVisible();
  await filter.getByLabel("Ended on", { exact: true }).fill("2026-11-02");
  await filter.getByRole("button", { name: "Search" }).click();
  await expect(page).toHaveURL(/ended=2026-11-02.*zone=Europe%2FBerlin/);
  await expect(filter.locator("summary", { hasText: "Ended on 2026-11-02" })).toBeVisible();
});
