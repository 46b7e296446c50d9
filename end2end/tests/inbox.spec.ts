/**
 * The inbox: staged outputs wait there, and people decide them. The items come from tasks whose output needs
 * approval.
 */
import { type Locator } from "@playwright/test";
import { type Deal, unique, dealType, staged, itemOf, alike, dealNow, row, openInbox, settled } from "../deals";
import { api, emptyInbox, expect, hydrated, signIn, environment, test } from "../support";

/** Items of earlier tests would be shown after a decision. */
test.beforeEach(() => emptyInbox());

test.describe("once a decision takes effect", () => {
  test.use({ undoSeconds: 1 });

  test("an item is edited, approved and written once @nojs", async ({ page }) => {
    const { item, deal, session } = await staged((await dealType()).id, "Acme Corp", { stage: "Won", amount: 5 });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await expect(page.locator("#gate-title")).toContainText("wants to change 2 fields of Acme Corp");
    await page.locator('[name="value.amount"]').fill("7.5");
    await page.locator(".gate-bar").getByRole("button", { name: /^Approve/ }).click();
    await settled(session.id);
    expect(await dealNow(deal.id)).toMatchObject({ version: 2, fields: { stage: "Won", amount: 7.5 } });
  });

  test("a denial needs a reason, and sends the agent back to work with it @nojs", async ({ page }) => {
    const { item, session, agentSlug } = await staged((await dealType()).id, "Acme Corp", { stage: "Won" });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await page.locator('.gate-bar summary[data-key="deny"]').click();
    await page.locator('.gate-bar [name="note"]').fill("Not signed yet.");
    await page.locator('.gate-bar button[value="deny"]').click();
    await settled(session.id, "pending");
    const claim = await api().claim(agentSlug);
    await api().complete(session.id, claim.attempt, { stage: "Lost" });
    await page.goto(`/inbox/${(await itemOf(session.id)).id}`);
    await expect(page.locator("#gate")).toContainText("Denied 1 of 3");
    await expect(page.locator("#gate")).toContainText("Not signed yet.");
  });
});

test.describe("while a decision can be undone", () => {
  // Longer than any of these tests. What they leave is cancelled before the next one.
  test.use({ undoSeconds: 60 });

  test("the list is searched by a line that stays in the address @nojs", async ({ page }) => {
    const type = await dealType();
    for (const note of ["quince", "pear"]) await staged(type.id, unique("Searched"), { stage: "Won", note });
    await signIn(page, "reviewer");
    await page.goto("/inbox");
    const items = page.locator("#inbox-rows .row-title");
    await expect(items).toHaveCount(2);
    await page.getByLabel("Search items").fill("quince");
    await page.getByLabel("Search items").press("Enter");
    await expect(page).toHaveURL(/[?&]q=quince/);
    await expect(items).toHaveCount(1);
    await page.getByLabel("Search items").fill("cost>1");
    await page.getByLabel("Search items").press("Enter");
    await expect(page.getByText("the fields are agent, title, kind, tool.")).toBeVisible();
    await expect(items, "the whole list, below the refusal").toHaveCount(2);
    await page.goto("/inbox?q=kind:fields,output%20quince");
    await expect(items).toHaveCount(1);
    await page.getByRole("link", { name: "Remove quince" }).click();
    await expect(items).toHaveCount(2);
  });

  test("an item is said to be denied @nojs", async ({ page }) => {
    const { item } = await staged((await dealType()).id, "Acme Corp", { stage: "Won" });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await page.locator('.gate-bar summary[data-key="deny"]').click();
    await page.locator('.gate-bar [name="note"]').fill("Not signed yet.");
    await page.locator('.gate-bar button[value="deny"]').click();
    await expect(page.locator(".inbox-held")).toContainText("Denied: Acme Corp");
  });

  test("a decision is taken back while it is held @nojs", async ({ page }) => {
    const { item, deal } = await staged((await dealType()).id, unique("Undone"), { stage: "Won", note: "x" });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await page.locator('[name="value.note"]').fill("as agreed");
    await page.locator(".gate-bar").getByRole("button", { name: /^Approve/ }).click();
    await expect(page.locator(".inbox-held")).toContainText("Approved with changes: Undone");
    await page.locator(".inbox-held").getByRole("button", { name: "Undo" }).click();
    await expect(page.getByText("Undone.")).toBeVisible();
    await expect(page.locator("#gate")).toHaveAttribute("data-id", item.id);
    await expect(row(page, item.id)).toBeVisible();
    expect((await dealNow(deal.id)).version).toBe(1);
  });

  test("the next item is there before the answer, and z brings the decided one back", async ({ page }) => {
    const type = await dealType();
    const first = await staged(type.id, unique("First"), { stage: "Won" });
    const second = await staged(type.id, unique("Second"), { amount: 2 });
    await signIn(page, "reviewer");
    await openInbox(page, `/inbox/${first.item.id}`);
    await row(page, first.item.id).locator(".row-title").focus();
    const decided = page.waitForRequest(/\/fn\/inbox\/decide/);
    await page.route(/\/fn\/inbox\/decide/, async (route) => {
      await decided;
      // The row is hidden before the server has responded.
      await expect(row(page, first.item.id)).toBeHidden();
      await route.continue();
    });
    await page.keyboard.press("a");
    await expect(page.locator("#gate")).not.toHaveAttribute("data-id", first.item.id);
    await expect(page.locator(".inbox-held [data-key=undo]")).toBeVisible();
    await page.keyboard.press("z");
    await expect(row(page, first.item.id)).toBeVisible();
    await expect(page.locator("#gate")).toHaveAttribute("data-id", first.item.id);
    expect(second.item.id).not.toBe(first.item.id);
  });

  test("the bar of an item stays where it is, and Undo stands in one place", async ({ page }) => {
    const { item } = await staged((await dealType()).id, unique("Bar"), { stage: "Won", amount: 5 });
    await signIn(page, "reviewer");
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await openInbox(page, `/inbox/${item.id}`);
      const places = () =>
        page.locator(".gate-bar > .button, .gate-bar > details > summary").evaluateAll((all) =>
          all.map((button) => {
            const { left, width, height } = button.getBoundingClientRect();
            const bar = button.closest(".gate-bar")!.getBoundingClientRect();
            return [left - bar.left, width, height, bar.height].map(Math.round).join(" ");
          }),
        );
      const before = await places();
      expect(before.length).toBeGreaterThan(2);
      await page.locator('.gate-bar summary[data-key="deny"]').click();
      await expect(page.locator('.gate-bar [name="note"]')).toBeInViewport();
      expect(await places()).toEqual(before);
      await page.keyboard.press("Escape");
      const approve = page.locator('.gate-bar [data-key="approve"]');
      await page.locator('[name="value.amount"]').fill("6");
      await expect(approve).toHaveText("Approve with changes");
      expect(await places()).toEqual(before);
      await page.locator('[name="value.amount"]').fill("5");
      await expect(approve).toHaveText("Approve");
      expect(await places()).toEqual(before);
    }
    await page.locator('.gate-bar [data-key="approve"]').click();
    await expect(page.getByRole("button", { name: /^Undo/ })).toHaveCount(1);
    await page.goto(`/inbox/${item.id}`);
    await expect(page.getByRole("button", { name: /^Undo/ }).and(page.locator(":visible"))).toHaveCount(1);
  });
});

test("a value that cannot be is refused at its field and nothing typed is lost @nojs", async ({ page }) => {
  const { item } = await staged((await dealType()).id, "Acme Corp", { stage: "Won", amount: 5, note: "as agreed" });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await page.locator('[name="value.amount"]').fill("many");
  await page.locator('[name="value.note"]').fill("typed by a person");
  await page.locator(".gate-bar").getByRole("button", { name: /^Approve/ }).click();
  await expect(page.locator('[name="value.amount"]')).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator('[name="value.amount"]')).toHaveValue("many");
  await expect(page.locator('[name="value.note"]')).toHaveValue("typed by a person");
  await expect(page.locator("#gate-form .field-error")).toContainText("Enter a number");
});

test("an item is put aside and taken up again @nojs", async ({ page }) => {
  const { item } = await staged((await dealType()).id, unique("Later"), { stage: "Won" });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await page.locator('.gate-bar summary[data-key="snooze"]').click();
  await page.getByRole("button", { name: "Tomorrow, 9:00" }).last().click();
  await expect(row(page, item.id)).toHaveCount(0);
  await page.goto(`/inbox/${item.id}?state=snoozed`);
  await expect(row(page, item.id)).toBeVisible();
  // A form that is posted before the scripts have loaded is a navigation, which the next one would cancel.
  const taken = page.waitForResponse((response) => response.url().includes("/fn/inbox/snooze"));
  await page.getByRole("button", { name: "Unsnooze" }).click();
  await taken;
  await page.goto("/inbox");
  await expect(row(page, item.id)).toHaveCount(1);
});

test("another workspace's item looks like one that does not exist @nojs", async ({ page }) => {
  const { item } = await staged((await dealType()).id, "Secret", { stage: "Won" });
  await signIn(page, "admin", "other");
  for (const id of [item.id, "00000000-0000-7000-8000-000000000000"]) {
    expect((await page.goto(`/inbox/${id}`))?.status()).toBe(404);
    expect((await page.goto(`/inbox/${id}/detail`))?.status()).toBe(404);
  }
  await page.goto("/needs-you");
  await expect(page).toHaveURL(/\/inbox$/);
  await expect(page.getByText("Nothing is waiting for you.")).toBeVisible();
});

test("today's row leads to the item, and an agent is one click away @nojs", async ({ page }) => {
  await signIn(page, "reviewer");
  const me = (await (await page.context().request.get(`${environment().url}/api/me`)).json()) as { user: { id: string } };
  const title = unique("From today");
  const { item } = await staged((await dealType()).id, title, { stage: "Won" }, { assignedTo: me.user.id });
  await page.goto("/today?bucket=needs_me");
  await page.locator(`a.button[href="/inbox/${item.id}"]`).click();
  await expect(page.locator("#gate-title")).toContainText(title);
  const ready = unique("Ready");
  await api().createAction({ name: ready, agentSlug: "delegate", assignedTo: me.user.id });
  await page.goto("/today?bucket=delegatable");
  await page.locator(".row", { hasText: ready }).getByRole("button", { name: /Delegate to delegate/ }).click();
  await expect(page).toHaveURL(/\/sessions\//);
});

test("an item that cannot be loaded leaves nothing to decide, and no key decides another one", async ({ page }) => {
  const type = await dealType();
  const items = [await staged(type.id, unique("One"), { stage: "Won" }), await staged(type.id, unique("Two"), { stage: "Won" })];
  await signIn(page, "reviewer");
  const sent: string[] = [];
  page.on("request", (request) => void (request.method() === "POST" && sent.push(request.url())));
  await page.route("**/inbox/*/detail", (route) => route.abort());
  await openInbox(page, "/inbox");
  const shown = await page.locator("#gate").getAttribute("data-id");
  const other = items.map(({ item }) => item.id).find((id) => id !== shown)!;
  await row(page, other).locator(".row-title").focus();
  await expect(row(page, other)).toHaveAttribute("aria-current", "true");
  await expect(page.locator("#inbox-detail")).toContainText("This item could not be loaded.");
  await expect(page.locator("#gate")).toHaveCount(0);
  await page.keyboard.press("a");
  await page.unroute("**/inbox/*/detail");
  await page.getByRole("link", { name: "Try again" }).click();
  await expect(page.locator("#gate")).toHaveAttribute("data-id", other);
  await expect(row(page, other)).toHaveAttribute("aria-current", "true");
  expect(sent.filter((url) => url.includes("/inbox/"))).toEqual([]);
  for (const { session } of items) expect((await itemOf(session.id)).state).toBe("open");
});

/** Stages outputs of one agent about several records, each from a task of its own. Returns their sessions. */
async function ofSeveralActions(count: number) {
  const type = await dealType();
  const agentSlug = unique("several").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  for (let n = 0; n < count; n++) {
    const deal = await api().post<Deal>("/api/entities", { typeId: type.id, title: unique("Record"), fields: { stage: "Lead" } });
    const about = { targetEntityId: deal.id, outputType: "entity", metadata: { requiresApproval: true } };
    const action = await api().createAction({ name: unique("Qualify"), agentSlug, ...about });
    const session = await api().trigger(action.id);
    const claim = await api().claim(agentSlug);
    await api().complete(session.id, claim.attempt, { stage: "Won" });
  }
}

test("items of several actions fold together, and one press selects all", async ({ page }) => {
  await ofSeveralActions(4);
  await staged((await dealType()).id, unique("Another"), { amount: 3 });
  await signIn(page, "reviewer");
  await openInbox(page, "/inbox");
  await expect(page.locator(".inbox-group .row-title")).toHaveText("4 changes: Stage");
  await page.locator("#inbox-all").click();
  await expect(page.locator("#inbox-selected")).toHaveText("5 selected");
  await page.locator("#inbox-all").click();
  await expect(page.locator("#inbox-batch")).toHaveAttribute("data-selected", "0");
});

test("rows are one line, and say whose turn it is only where it can be another's", async ({ page }) => {
  const type = await dealType();
  const long = "A record whose name is so long that no list can show all of it, and then some more of it";
  await staged(type.id, unique(long), { stage: "Won", amount: 5, note: `${long}. ${long}` });
  await staged(type.id, unique("Short"), { stage: "Won" });
  await signIn(page, "reviewer");
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await openInbox(page, "/inbox");
    const rows = page.locator("#inbox-rows [data-id]");
    await expect(rows).toHaveCount(2);
    const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    const least = width === 360 ? 44 : 36;
    for (const height of heights) expect(height >= least && height <= least + 4, `${height} px at ${width}`).toBe(true);
    await expect(page.locator("#inbox-rows .inbox-turn")).toHaveCount(0);
    const isWhole = (part: Locator) => part.evaluate((all) => all.scrollWidth <= all.clientWidth);
    const short = rows.filter({ hasText: "Short" });
    expect(await isWhole(short.locator(".row-title")), `the subject at ${width}`).toBe(true);
    for (const when of await rows.locator(".row-sub").all()) expect(await isWhole(when), `the time at ${width}`).toBe(true);
  }
  await openInbox(page, "/inbox?assignedTo=all");
  await expect(page.locator("#inbox-rows .inbox-turn").first()).toHaveText("Your turn");
});

test("a proposed text can be read to its end, and a table in one stays a table @nojs", async ({ page }) => {
  const type = await api().post<{ id: string }>("/api/entity-types", {
    name: unique("Deal"),
    fields: [{ slug: "next", name: "Next", type: "text" }, { slug: "note", name: "Note", type: "text" }],
  });
  const next = "Signed on 27 November. Kick-off with the whole team in January.";
  const note = "What was agreed on the phone:\n\n| Item | Price |\n|---|---:|\n| Alpha, a plan of some length | 12 |\n";
  const deal = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title: unique("Readable"), fields: {} });
  const agentSlug = unique("reader").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const action = await api().createAction({ name: "Read", agentSlug, targetEntityId: deal.id, outputType: "entity", metadata: { requiresApproval: true } });
  const session = await api().trigger(action.id);
  const { attempt } = await api().claim(agentSlug);
  await api().complete(session.id, attempt, { next, note });
  const item = await itemOf(session.id);
  await signIn(page, "reviewer");
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(`/inbox/${item.id}`);
    const text = page.locator('#gate-form [name="value.next"]');
    await expect(text).toHaveValue(next);
    expect(await text.evaluate((all) => all.scrollHeight <= all.clientHeight && all.scrollWidth <= all.clientWidth)).toBe(true);
    const price = page.locator(".gate-rendered td").last();
    await expect(price).toHaveCSS("display", "table-cell");
    await expect(price).toHaveCSS("text-align", "right");
  }
});

test("what another reviewer does leaves the buttons of an item in place", async ({ page, browser }) => {
  const metadata = { requiresApproval: true, approval: { quorum: 2 } };
  const { id: type } = await dealType();
  const { item } = await staged(type, unique("Quorum"), { stage: "Won" }, { metadata });
  // The buttons of the first page name the item that comes next; the item that is read again does not know it.
  await staged(type, unique("Next"), { stage: "Won" });
  await signIn(page, "reviewer");
  // The first page tells the server the reader's time zone, which the form of a snooze names.
  await page.goto("/inbox");
  await hydrated(page);
  await openInbox(page, `/inbox/${item.id}`);
  const bar = '.gate-bar [data-key="approve"]';
  const approve = await page.locator(bar).elementHandle();
  const other = await browser.newPage({ baseURL: environment().url });
  await signIn(other, "admin");
  await other.goto(`/inbox/${item.id}`);
  await other.locator(bar).click();
  await expect(page.locator('[data-part="facts"]')).toContainText("1 of 2");
  // A button that is replaced between press and release loses the click.
  expect(await approve?.evaluate((button) => button.isConnected)).toBe(true);
});

test.describe("by keyboard", () => {
  test("a refusal puts the item back with its reason and what was typed", async ({ page }) => {
    const { item } = await staged((await dealType()).id, unique("Refused"), { stage: "Won", amount: 5 });
    await signIn(page, "reviewer");
    await openInbox(page, `/inbox/${item.id}`);
    await page.locator('[name="value.amount"]').fill("many");
    await page.keyboard.press("Control+Enter");
    await expect(row(page, item.id).locator("[data-reason]")).toContainText("Enter a number");
    await row(page, item.id).locator(".row-title").click();
    await expect(page.locator('[name="value.amount"]')).toHaveValue("many");
    await expect(page.locator('[name="value.amount"]')).toHaveAttribute("aria-invalid", "true");
  });

  test("the reason of a refusal outlives new lists, until its item is opened", async ({ page }) => {
    const type = await dealType();
    const { item } = await staged(type.id, unique("Refused"), { stage: "Won", amount: 5 });
    const other = await staged(type.id, unique("Other"), { stage: "Lost" });
    await signIn(page, "reviewer");
    await openInbox(page, `/inbox/${item.id}`);
    await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
    await page.locator('[name="value.amount"]').fill("many");
    await page.keyboard.press("Control+Enter");
    const reason = row(page, item.id).locator("[data-reason]");
    await expect(reason).toContainText("Enter a number");
    for (const name of ["Later", "Latest"]) {
      const later = await staged(type.id, unique(name), { stage: "Won" });
      await expect(row(page, later.item.id)).toBeAttached();
      await expect(reason).toBeVisible();
      await expect(reason).toContainText("Enter a number");
    }
    await row(page, other.item.id).locator(".row-title").click();
    await expect(reason).toBeVisible();
    await row(page, item.id).locator(".row-title").click();
    await expect(reason).toBeHidden();
    await expect(page.locator('[name="value.amount"]')).toHaveValue("many");
    await expect(page.locator('[name="value.amount"]')).toHaveAttribute("aria-invalid", "true");
    const last = await staged(type.id, unique("Last"), { stage: "Won" });
    await expect(row(page, last.item.id)).toBeAttached();
    await expect(reason).toBeHidden();
  });

  test("letters are text in a field, and Escape leads back to the list", async ({ page }) => {
    const { item } = await staged((await dealType()).id, unique("Typing"), { note: "x" });
    await signIn(page, "reviewer");
    await openInbox(page, `/inbox/${item.id}`);
    await row(page, item.id).locator(".row-title").focus();
    await page.keyboard.press("e");
    await expect(page.locator('[name="value.note"]')).toBeFocused();
    await page.keyboard.type("azr");
    await expect(page.locator('[name="value.note"]')).toHaveValue(/azr/);
    await page.keyboard.press("Escape");
    await expect(row(page, item.id).locator(".row-title")).toBeFocused();
    await page.keyboard.press("r");
    await expect(page.locator('.gate-bar [name="note"]')).toBeFocused();
    await page.keyboard.type("No.");
    await page.keyboard.press("Control+Enter");
    await expect(row(page, item.id)).toBeHidden();
  });

  test.describe("in a long list", () => {
    // Long enough that the first decision can still be undone after the last one, on a slow machine too.
    test.use({ undoSeconds: 10 });

    test("a hundred alike are decided by keys, and the outlier is left", async ({ page }) => {
      test.slow();
      const sessions = await alike(101, (n) => (n === 50 ? "Lost" : "Won"));
      const outlier = await itemOf(sessions[50]!);
      await signIn(page, "reviewer");
      await openInbox(page, "/inbox");
      const group = page.locator("[data-group]", { hasText: "101 outputs" });
      await expect(row(page, outlier.id)).toContainText("Lost");
      await group.locator(".row-title").focus();
      await page.keyboard.press("x");
      await expect(page.locator("#inbox-selected")).toHaveText("100 selected");
      // The selection is shown first, and so many take a second press.
      await page.keyboard.press("a");
      await expect(page.locator("#inbox-batch-bar [data-key=approve]")).toHaveText("Press again to approve 100");
      await expect(page.locator("#selection tbody tr")).toHaveCount(100);
      await page.keyboard.press("a");
      await expect(page.locator(".inbox-held")).toContainText("100 items");
      await expect(group).toHaveCount(0);
      await expect(row(page, outlier.id)).toBeVisible();
      await settled(sessions[0]!);
      await settled(sessions[100]!);
    });
  });

  test("a group that was unfolded stays so while its items are decided one after the other", async ({ page }) => {
    await alike(9, () => "Won");
    await signIn(page, "reviewer");
    await openInbox(page, "/inbox");
    const group = page.locator("[data-group]", { hasText: "outputs" });
    await group.locator("[data-fold]").click();
    const rows = page.locator("#inbox-rows [data-id]:visible");
    await expect(rows).toHaveCount(9);
    await rows.first().locator(".row-title").focus();
    for (let left = 8; left > 3; left--) {
      const open = await page.locator("#gate").getAttribute("data-id");
      await page.keyboard.press("a");
      await expect(page.locator("#gate")).not.toHaveAttribute("data-id", open!);
      // The list has been read again.
      await expect(group).toContainText(`${left} outputs`);
      await expect(group.locator("[data-fold]")).toHaveAttribute("aria-expanded", "true");
      await expect(rows).toHaveCount(left);
      await expect(rows.first().locator(".row-title")).toBeFocused();
    }
  });
});
