/**
 * What reviewers can rely on in the inbox: others' decisions are seen at once, groups hold what is alike, and a decision
 * that failed is seen.
 */
import { unique, dealType, staged, itemOf, alike, row, openInbox, cancelAll } from "../deals";
import { askQuestion } from "../questions";
import { api, emptyInbox, expect, expectAccessible, hydrated, signIn, environment, test } from "../support";

/** Items of earlier tests would be shown after a decision. */
test.beforeEach(() => emptyInbox());

test("the second reviewer sees at once that it was decided, and by whom", async ({ page, browser }) => {
  const { item } = await staged((await dealType()).id, unique("Shared"), { stage: "Won" });
  await signIn(page, "reviewer");
  await openInbox(page, `/inbox/${item.id}`);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const other = await browser.newContext({ baseURL: environment().url });
  const second = await other.newPage();
  await signIn(second, "admin");
  await second.goto(`/inbox/${item.id}`);
  await second.locator(".gate-bar").getByRole("button", { name: /^Approve/ }).click();
  await expect(page.locator("#gate [data-part=state]")).toContainText(`Approved by ${environment().tenants.acme.people.admin.email}`);
  await expect(page.locator(".gate-bar [data-key=approve]")).toHaveCount(0);
  await other.close();
});

test("what the second reviewer has typed stays on the page, to be copied", async ({ page, browser }) => {
  const { item } = await staged((await dealType()).id, unique("Typed"), { stage: "Won", amount: 5 });
  await signIn(page, "reviewer");
  await openInbox(page, `/inbox/${item.id}`);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  await page.locator('[name="value.amount"]').fill("7");
  await page.locator('.gate-bar summary[data-key="deny"]').click();
  await page.locator('.gate-bar [name="note"]').fill("Ask Kim <b>first</b>.");
  const other = await browser.newContext({ baseURL: environment().url });
  const second = await other.newPage();
  await signIn(second, "admin");
  await second.goto(`/inbox/${item.id}`);
  await second.locator(".gate-bar").getByRole("button", { name: /^Approve/ }).click();
  const unsent = page.locator("#gate .notice", { hasText: "Your unsent text" });
  await expect(unsent).toContainText("Reason: Ask Kim <b>first</b>.");
  await expect(unsent).toContainText("Amount: 7");
  await expect(unsent.getByRole("button", { name: "Copy" })).toBeVisible();
  await expect(page.locator("#gate [name='value.amount']")).toHaveCount(0);
  await expectAccessible(page, "what was not sent");
  await other.close();
});

test.describe("in a folded group", () => {
  test.use({ undoSeconds: 60 });

  test("a leads to the next one of the group, the address follows, and the group keeps its place", async ({ page }) => {
    const type = await dealType();
    await alike(4, () => "Won");
    await staged(type.id, unique("After"), { note: "x" });
    await signIn(page, "reviewer");
    await openInbox(page, "/inbox");
    const first = (await page.locator("#gate").getAttribute("data-id"))!;
    const folded = page.locator("#inbox-rows [data-in]");
    await expect(folded).toHaveCount(4);
    await expect(folded.first()).toBeHidden();
    await page.keyboard.press("a");
    await expect(page.locator("#gate")).not.toHaveAttribute("data-id", first);
    const next = (await page.locator("#gate").getAttribute("data-id"))!;
    await expect(row(page, next)).toHaveAttribute("data-in", /./);
    await expect(row(page, next)).toBeVisible();
    await expect(page).toHaveURL(new RegExp(`/inbox/${next}$`));
    await expect(page.locator(".inbox-group")).toContainText("3 outputs");
    await expect(page.locator("#inbox-rows > li").first()).toHaveClass(/inbox-group/);
    await page.reload();
    await expect(page.locator("#gate")).toHaveAttribute("data-id", next);
    await cancelAll();
  });

  test("a decision that fails is seen where it was made, and is sent again", async ({ page, context }) => {
    await staged((await dealType()).id, unique("Before"), { note: "x" });
    const sessions = await alike(4, () => "Won");
    await signIn(page, "reviewer");
    await openInbox(page, "/inbox");
    const failing = await itemOf(sessions[0]!);
    await page.goto(`/inbox/${failing.id}`);
    await hydrated(page);
    // It was opened by its link: its group is unfolded, and its row is marked.
    await expect(row(page, failing.id)).toBeVisible();
    await expect(row(page, failing.id)).toHaveAttribute("aria-current", "true");
    await context.setOffline(true);
    await page.keyboard.press("a");
    const bar = page.locator(".inbox-held [data-tone=bad]");
    await expect(bar).toContainText("1 decision was not confirmed.");
    await expect(bar).toBeInViewport();
    const [said, item] = [(await bar.boundingBox())!, (await page.locator("#inbox-detail").boundingBox())!];
    expect(said.x + said.width, "the notice covers no button of the item").toBeLessThanOrEqual(item.x);
    // Its item is open again.
    await expect(page.locator("#gate")).toHaveAttribute("data-id", failing.id);
    await expect(row(page, failing.id)).toBeVisible();
    await expect(row(page, failing.id).locator("[data-reason]")).toBeVisible();
    await expect(page).toHaveURL(new RegExp(`/inbox/${failing.id}$`));
    await context.setOffline(false);
    await bar.getByRole("button", { name: "Send again" }).click();
    await expect(bar).toHaveCount(0);
    await expect(page.locator(".inbox-held")).toContainText("Approved:");
    await expect(row(page, failing.id)).toHaveCount(0);
    await cancelAll();
  });

  test("a batch that fails is seen, and its items are selected still", async ({ page, context }) => {
    await alike(3, () => "Won");
    await signIn(page, "reviewer");
    await openInbox(page, "/inbox");
    await page.locator(".inbox-group .row-title").focus();
    await page.keyboard.press("x");
    await expect(page.locator("#inbox-batch-bar [data-key=approve]")).toHaveText("Approve 3");
    await context.setOffline(true);
    await page.keyboard.press("a");
    await expect(page.locator(".inbox-held [data-tone=bad]")).toContainText("3 decisions were not confirmed.");
    await expect(page.locator("#inbox-selected")).toHaveText("3 selected");
    await expect(page.locator("#inbox-rows [data-reason]:visible")).toHaveCount(3);
    await context.setOffline(false);
    await page.getByRole("button", { name: "Do not send" }).click();
    await expect(page.locator(".inbox-held [data-tone=bad]")).toHaveCount(0);
    expect(await page.locator("#inbox-rows [data-id]").count()).toBe(3);
  });
});

test("an extreme is listed, and no selection of its group has it", async ({ page }) => {
  const refund = await api().createAction({ name: unique("Refund"), agentSlug: "refunder" });
  const amounts = [1_999, 4_900, 12_900, 1_999, 4_900, 12_900, 1_290_000];
  for (const [n, amount] of amounts.entries()) {
    const session = await api().trigger(refund.id);
    const { attempt } = await api().claim("refunder");
    const pausedToolCall = { toolCallId: `${n}`, toolName: "stripe_refund", toolInput: { amount, charge: `ch_${n}` } };
    await api().post(`/api/sessions/${session.id}/yield`, { attempt, status: "awaiting_tool", pausedToolCall });
  }
  await signIn(page, "reviewer");
  await openInbox(page, "/inbox");
  const group = page.locator(".inbox-group");
  await expect(group.locator(".row-title")).toHaveText("7 stripe_refund calls: Amount 1,999 to 1,290,000");
  const extreme = page.locator("#inbox-rows [data-outlier]");
  await expect(extreme).toBeVisible();
  await expect(extreme).toContainText("1,290,000, others 1,999 to 12,900");
  await group.getByRole("link", { name: "Select 6" }).click();
  await expect(page.locator("#inbox-selected")).toHaveText("6 selected");
  await expect(extreme.getByRole("checkbox")).not.toBeChecked();
  await expect(page.locator("#selection .gate-head")).toContainText("Amount 1,999 to 12,900, sum 39,598");
  await page.locator("#inbox-all").click();
  await expect(extreme.getByRole("checkbox")).not.toBeChecked();
  await extreme.getByRole("checkbox").check();
  await expect(page.locator("#selection tbody tr").first()).toContainText("1,290,000");
  await expect(page.locator("#selection")).toContainText("1 of these differs");
});

test("without a connection the item comes back and says so", async ({ page, context }) => {
  const { item } = await staged((await dealType()).id, unique("Offline"), { stage: "Won" });
  await signIn(page, "reviewer");
  await openInbox(page, `/inbox/${item.id}`);
  await context.setOffline(true);
  await row(page, item.id).locator(".row-title").focus();
  await page.keyboard.press("a");
  await expect(row(page, item.id).locator("[data-reason]")).toContainText("cannot be reached");
  await context.setOffline(false);
});

test("axe finds nothing in light and dark, nothing overflows at 1280 or 360 px, no script error", async ({ page }) => {
  test.slow();
  const type = await dealType();
  const long = `Very <b>long</b> ${"x".repeat(160)}`;
  const { item } = await staged(type.id, long, { stage: "Won", amount: 5, note: `<script>window.pwned = 1</script> שלום 🧪 ${"y".repeat(300)}` });
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await signIn(page, "admin");
  const { item: question } = await askQuestion({ message: "Which day?" });
  const open = ["/inbox", `/inbox/${item.id}`, `/inbox/${question.id}`];
  for (const path of [...open, "/inbox?state=snoozed", "/inbox?state=decided&assignedTo=all"]) {
    await openInbox(page, path);
    await expectAccessible(page, path);
    expect(await page.evaluate(() => (window as { pwned?: number }).pwned), "stored script ran").toBeUndefined();
  }
  expect(errors).toEqual([]);
});
