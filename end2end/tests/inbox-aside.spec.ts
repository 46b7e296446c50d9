/** Items that a reviewer does not decide now: snoozed until a time, handed over, and the list of what was decided. */
import { alike, dealType, row, staged, unique } from "../deals";
import { api, emptyInbox, environment, expect, expectAccessible, signIn, test } from "../support";

/** Items of earlier tests would be shown after a decision. */
test.beforeEach(() => emptyInbox());

test("an item is snoozed until a date and a time @nojs", async ({ page }) => {
  const { item } = await staged((await dealType()).id, unique("Later"), { stage: "Won" });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await page.locator('.gate-bar summary[data-key="snooze"]').click();
  await expect(page.getByRole("button", { name: "Monday, 9:00" }).last()).toBeVisible();
  await expectAccessible(page, "the choices of a snooze");
  const inTwoDays = new Date(Date.now() + 2 * 24 * 3_600_000).toISOString().slice(0, 16);
  await page.getByLabel("Date and time").fill(inTwoDays);
  // A form that is posted before the scripts have loaded is a navigation, which the next one would cancel.
  const taken = page.waitForResponse((response) => response.url().includes("/fn/inbox/snooze"));
  await page.getByRole("button", { name: "Until then" }).click();
  await taken;
  await page.goto("/inbox?state=snoozed");
  await expect(row(page, item.id)).toContainText("Snoozed until");
  await page.goto("/inbox");
  await expect(row(page, item.id)).toHaveCount(0);
});

test("an item is handed over with a note @nojs", async ({ page }) => {
  const { item } = await staged((await dealType()).id, unique("Ask someone"), { stage: "Won" });
  const { email } = environment().tenants.acme.people.admin;
  const { members } = await api("admin").get<{ members: { id: string; email: string }[] }>("/api/members");
  const admin = members.find((member) => member.email === email)!;
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await page.getByRole("link", { name: "Hand over…" }).click();
  await expect(page.locator("h1")).toHaveText("Hand over");
  await expectAccessible(page, "handing over");
  await page.getByLabel("To", { exact: true }).selectOption(`user:${admin.id}`);
  await page.getByLabel("Note").fill("Is <b>this</b> right?");
  await page.getByRole("button", { name: "Hand over" }).click();
  await expect(page.getByText("Handed over.", { exact: false })).toBeVisible();
  await expect(row(page, item.id)).toHaveCount(0);
  await page.goto(`/inbox/${item.id}?state=snoozed`);
  await expect(row(page, item.id)).toBeVisible();
  await expect(page.locator('#gate [data-part="facts"]')).toContainText("Is <b>this</b> right?");
  await expect(page.locator('#gate [data-part="facts"]')).toContainText(`to ${email}`);
});

test.describe("forty decided items", () => {
  test.use({ undoSeconds: 0 });

  test("they are one row each, fit, and are filtered @nojs", async ({ page }) => {
    test.slow();
    await signIn(page, "reviewer");
    const sessions = new Set(await alike(40, () => "Won"));
    const found = await api().get<{ items: { id: string; sessionId: string; agentSlug: string }[] }>("/api/approvals?assignedTo=all&limit=500");
    const items = found.items.filter((item) => sessions.has(item.sessionId));
    const first = items[0]!;
    const decisions = items.map(({ id }) => ({ id, decision: "approve", note: `Reason of ${id}` }));
    const headers = { origin: environment().url };
    const answer = await page.request.post("/api/approvals/decisions", { data: { decisions }, headers });
    expect(answer.status()).toBe(200);
    await page.goto("/inbox?state=decided&assignedTo=all");
    await page.getByLabel("Agent", { exact: true }).fill(first.agentSlug);
    await page.getByRole("button", { name: "Filter" }).click();
    const rows = page.locator("#inbox-rows [data-row]");
    await expect(rows).toHaveCount(40);
    await expect(rows.first()).toContainText(/Approved by reviewer@/);
    await expect(row(page, first.id)).toContainText(`Reason of ${first.id}`);
    await expectAccessible(page, "forty decided items");
    await page.getByLabel("Outcome").selectOption("denied");
    await page.getByRole("button", { name: "Filter" }).click();
    await expect(page.getByText("Nothing was decided like this.")).toBeVisible();
    await page.getByRole("link", { name: "Clear" }).click();
    await expect(row(page, first.id)).toBeVisible();
  });
});
