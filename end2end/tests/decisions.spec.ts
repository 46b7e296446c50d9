/** Decisions whose response is lost, that select nothing, or that were made: what the page shows. */
import { type Page } from "@playwright/test";
import { askQuestion } from "../questions";
import { api, environment, expect, expectAccessible, hydrated, OFTEN, signIn, test } from "../support";

let count = 0;
const unique = (name: string) => `${name} ${Date.now().toString(36)} ${count++}`;

interface Item {
  id: string;
  sessionId: string;
}

/** Creates a record with a stage and an amount, and an output about it that waits for a decision. */
async function staged(title: string, values: object, approval?: object) {
  const type = await api().post<{ id: string }>("/api/entity-types", {
    name: unique("Deal"),
    fields: [
      { slug: "stage", name: "Stage", type: "select", options: ["Lead", "Won", "Lost"] },
      { slug: "amount", name: "Amount", type: "number" },
    ],
  });
  const fields = { stage: "Lead", amount: 1 };
  const deal = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title, fields });
  const agentSlug = unique("scout").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const action = await api().createAction({
    name: "Qualify",
    agentSlug,
    targetEntityId: deal.id,
    outputType: "entity",
    metadata: { requiresApproval: true, ...(approval ? { approval } : {}) },
  });
  const session = await api().trigger(action.id);
  const claim = await api().claim(agentSlug);
  await api().complete(session.id, claim.attempt, values);
  const { items } = await api().get<{ items: Item[] }>("/api/approvals?assignedTo=all&limit=500");
  const item = items.find((waiting) => waiting.sessionId === session.id);
  if (!item) throw new Error(`session ${session.id} has staged nothing`);
  return { deal, item, action };
}

const row = (page: Page, id: string) => page.locator(`#inbox-rows [data-id="${id}"]`);
const approve = (page: Page) => page.locator("#gate .gate-bar").getByRole("button", { name: /^Approve/ });

/** Opens an item while others are selected. */
async function openItem(page: Page, id: string) {
  await expect(page.locator("#inbox-batch-bar")).toBeVisible();
  await row(page, id).locator(".row-title").click();
  await expect(page.locator("#gate")).toHaveAttribute("data-id", id);
}

async function stateOf(id: string) {
  const { approval, decisions } = await api().get<{ approval: { state: string }; decisions: unknown[] }>(`/api/approvals/${id}`);
  return { state: approval.state, decisions: decisions.length };
}

test.describe("while a decision can be undone", () => {
  test.use({ undoSeconds: 60 });

  test("an edit whose answer was lost is sent again and answered with what is recorded", async ({ page }) => {
    const { item } = await staged(unique("Lost answer"), { stage: "Won", amount: 2 });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await expect(page.locator("#gate")).toHaveAttribute("data-id", item.id);
    const digest = await page.locator("#gate-form [name=digest]").inputValue();
    let lost = 0;
    await page.route("**/fn/inbox/decide", async (route) => {
      if (lost++ > 0) return route.continue();
      // The server handles the request, and its response never arrives.
      await route.fetch();
      await route.abort("connectionreset");
    });
    await page.locator("[name='value.amount']").fill("3");
    await approve(page).click();
    await expect(row(page, item.id).locator("[data-reason]")).toContainText("not known whether this was recorded");
    await expect(page.locator("#inbox-announcement")).not.toContainText("Not done");
    expect(await stateOf(item.id)).toEqual({ state: "held", decisions: 1 });
    // The page may have learnt by now that the item is decided. A form that is still there can be sent again.
    const response = await page.evaluate(async ({ id, digest }) => {
      const body = new URLSearchParams({ id, decision: "approve", digest, "value.stage": "Won", "value.amount": "3" });
      return (await fetch("/fn/inbox/decide", { method: "POST", body })).status;
    }, { id: item.id, digest });
    expect(response).toBe(200);
    expect((await stateOf(item.id)).decisions).toBe(1);
    // Its notice would cover a part of the pages of the next tests.
    await api().post(`/api/sessions/${item.sessionId}/cancel`);
  });
});

test("an approval of an outdated item keeps what another reviewer has changed", async ({ page, browser }) => {
  const { item } = await staged(unique("Outdated"), { stage: "Won", amount: 2 }, { quorum: 2 });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await hydrated(page);
  await page.locator("[name='value.amount']").fill("3");
  const other = await browser.newPage({ baseURL: environment().url });
  await signIn(other, "admin");
  await other.goto(`/inbox/${item.id}`);
  await hydrated(other);
  await other.locator("[name='value.stage']").selectOption("Lost");
  await approve(other).click();
  await expect.poll(() => stateOf(item.id)).toEqual({ state: "open", decisions: 1 });
  await other.close();
  await approve(page).click();
  await expect(row(page, item.id).locator("[data-reason]")).not.toBeEmpty();
  await row(page, item.id).locator(".row-title").click();
  await expect(page.locator("[name='value.amount']")).toHaveValue("3");
  await expect(page.locator("[name='value.stage']")).toHaveValue("Lost");
  await approve(page).click();
  await expect.poll(() => stateOf(item.id)).toEqual({ state: "open", decisions: 2 });
});

test("a decision after the sign-in has ended brings the item back with what was typed", async ({ page, context }) => {
  const { item } = await staged(unique("Signed out"), { stage: "Won", amount: 2 });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await hydrated(page);
  await page.locator("[name='value.amount']").fill("3");
  await context.clearCookies();
  await approve(page).click();
  await expect(row(page, item.id).locator("[data-reason]")).toContainText("Sign in on another tab");
  await signIn(page, "reviewer");
  await row(page, item.id).locator(".row-title").click();
  await expect(page.locator("[name='value.amount']")).toHaveValue("3");
  await approve(page).click();
  await expect.poll(() => stateOf(item.id)).toMatchObject({ decisions: 1 });
});

test("the buttons for several items come once something is selected @nojs", async ({ page, javaScriptEnabled }) => {
  const { item } = await staged(unique("Nothing selected"), { stage: "Won" });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await expect(page.locator("#inbox-selection")).toBeHidden();
  if (javaScriptEnabled !== false) return;
  await expect(page.getByRole("button", { name: "Approve" }).first()).toHaveAttribute("form", "gate-form");
  await row(page, item.id).getByRole("checkbox").check();
  await expect(page.locator("#inbox-selection")).toBeVisible();
  await row(page, item.id).getByRole("checkbox").uncheck();
  await expect(page.locator("#inbox-selection")).toBeHidden();
});

test("several items are reviewed before they are decided, and only what all of them take is offered @nojs", async ({ page, javaScriptEnabled }) => {
  const [one, other] = [await staged(unique("Reviewed"), { stage: "Won" }), await staged(unique("Reviewed"), { stage: "Won" })];
  const { item: question } = await askQuestion({ message: unique("Which day?") });
  await signIn(page, "reviewer");
  await page.goto("/inbox");
  await hydrated(page);
  const review = async () => {
    if (javaScriptEnabled === false) await page.getByRole("button", { name: "Review and decide" }).click();
  };
  for (const { item } of [one, other]) await row(page, item.id).getByRole("checkbox").check();
  await row(page, question.id).getByRole("checkbox").check();
  await review();
  const bar = page.locator("#inbox-batch-bar");
  await expect(bar).toContainText("Questions need an answer");
  await expect(bar.locator("[value=approve]")).toHaveCount(0);
  await expect(page.locator(".gate-bar:visible")).toHaveCount(1);
  await row(page, question.id).getByRole("checkbox").uncheck();
  await review();
  await expect(bar.locator("[value=approve]")).toHaveText("Approve 2");
  await expect(page.locator("#selection tbody tr")).toHaveCount(2);
  await expectAccessible(page, "a selection");
  await page.setViewportSize({ width: 360, height: 800 });
  if (javaScriptEnabled !== false) await page.getByRole("button", { name: "Review and decide" }).click();
  await expect(bar.locator("[value=approve]")).toBeInViewport();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await bar.locator("[value=approve]").click();
  for (const { item } of [one, other]) await expect.poll(async () => (await stateOf(item.id)).decisions).toBe(1);
  // The server refuses a question in a batch, whoever sends it.
  const answer = await page.evaluate(async (id) => {
    const body = new URLSearchParams({ decision: "approve", [`items[${id}]`]: "0".repeat(64) });
    return (await fetch("/fn/inbox/decide-many", { method: "POST", body, headers: { accept: "application/json" } })).text();
  }, question.id);
  expect(answer).toContain("Questions need an answer. Select only approvals, or use Answer.");
  expect((await stateOf(question.id)).state).toBe("open");
});

test.describe("what has taken effect", () => {
  test.use({ undoSeconds: 1 });

  test("Enter in a field of an item decides that item, whatever is selected in the list @nojs", async ({ page, javaScriptEnabled }) => {
    const title = unique("Enter");
    const { deal, item } = await staged(title, { stage: "Won", amount: 3 });
    const other = await staged(unique("Enter elsewhere"), { stage: "Won", amount: 4 });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await row(page, other.item.id).getByRole("checkbox").check();
    // With scripts the selection is shown instead of the item.
    if (javaScriptEnabled !== false) await openItem(page, item.id);
    const amount = page.locator("[name='value.amount']");
    await amount.fill("7");
    await amount.press("Enter");
    await expect.poll(async () => (await stateOf(item.id)).state, OFTEN).toBe("settled");
    expect(await api().get<{ fields: object }>(`/api/entities/${deal.id}`)).toMatchObject({ fields: { amount: 7 } });
    expect(await stateOf(other.item.id)).toEqual({ state: "open", decisions: 0 });
  });

  test("Ctrl Enter in a field of an item decides that item, whatever is selected in the list", async ({ page }) => {
    const { item } = await staged(unique("Ctrl Enter"), { stage: "Won", amount: 3 });
    const other = await staged(unique("Ctrl Enter elsewhere"), { stage: "Won", amount: 4 });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await hydrated(page);
    await row(page, other.item.id).getByRole("checkbox").check();
    await openItem(page, item.id);
    const amount = page.locator("[name='value.amount']");
    await amount.fill("7");
    await amount.press("ControlOrMeta+Enter");
    await expect.poll(async () => (await stateOf(item.id)).state, OFTEN).toBe("settled");
    expect(await stateOf(other.item.id)).toEqual({ state: "open", decisions: 0 });
  });

  test("a key that is held decides one item", async ({ page }) => {
    const { item } = await staged(unique("Held key"), { stage: "Won", amount: 3 });
    await staged(unique("Held key, next"), { stage: "Won", amount: 4 });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await hydrated(page);
    const shown = page.locator("#gate");
    await page.keyboard.down("a");
    await expect(shown).not.toHaveAttribute("data-id", item.id);
    const next = (await shown.getAttribute("data-id"))!;
    const before = await stateOf(next);
    // The second press without a release is a repeat.
    await page.keyboard.down("a");
    await page.keyboard.up("a");
    await expect(shown).toHaveAttribute("data-id", next);
    await expect.poll(async () => (await stateOf(item.id)).state, OFTEN).toBe("settled");
    await expect(shown).toHaveAttribute("data-id", next);
    expect(await stateOf(next)).toEqual(before);
  });

  test("Ctrl Enter in a menu and keys in a dialog decide nothing of the item behind", async ({ page }) => {
    const { item } = await staged(unique("Behind"), { stage: "Won", amount: 3 });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await hydrated(page);
    const shown = page.locator("#gate");
    await page.keyboard.press("h");
    await expect(shown.getByRole("button", { name: "In 3 hours" })).toBeFocused();
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(shown).toHaveAttribute("data-id", item.id);

    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog");
    // A click on its text takes the focus out of the dialog.
    await dialog.getByRole("heading", { name: "Keyboard" }).click();
    await page.keyboard.press("a");
    await expect(shown).toHaveAttribute("data-id", item.id);
    await dialog.getByRole("button", { name: "Close" }).focus();
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect(shown).toHaveAttribute("data-id", item.id);
    expect(await stateOf(item.id)).toEqual({ state: "open", decisions: 0 });
  });

  test("a decided item is shown against what the record was, in the past tense @nojs", async ({ page }) => {
    const title = unique("Then");
    const { deal, item } = await staged(title, { stage: "Won" });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await expect(page.locator("#gate-title")).toContainText(`wants to set Stage of ${title} from Lead to Won`);
    await approve(page).click();
    await expect.poll(async () => (await stateOf(item.id)).state, OFTEN).toBe("settled");
    await page.goto(`/inbox/${item.id}`);
    await expect(page.locator("#gate-title")).toContainText(`wanted to set Stage of ${title} from Lead to Won`);
    await expect(page.locator("#gate .gate-values")).toContainText("Lead");
    await expect(page.locator("#gate [data-part=state]")).toContainText("Approved by");
    expect((await api().get<{ version: number }>(`/api/entities/${deal.id}`)).version).toBe(2);
    // The list says in full what was decided, and by whom.
    const outcome = page.locator(`#inbox-rows [data-id="${item.id}"] [data-outcome] > span`);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto("/inbox?state=settled&assignedTo=all");
      await expect(outcome).toHaveText(/^Approved by reviewer@/);
      const hidden = await outcome.evaluate((words) => words.scrollWidth - words.clientWidth);
      expect(hidden, `hidden of the outcome at ${width}`).toBe(0);
    }
  });
});

test.describe("what takes effect at once", () => {
  test.use({ undoSeconds: 0 });

  test("a key that is held is no second press", async ({ page }) => {
    const { item } = await staged(unique("Held at once"), { stage: "Won", amount: 3 });
    await signIn(page, "reviewer");
    for (const key of ["a", "Enter"]) {
      await page.goto(`/inbox/${item.id}`);
      await hydrated(page);
      if (key === "Enter") await page.locator("[name='value.amount']").focus();
      await page.keyboard.down(key);
      await page.keyboard.down(key);
      await page.keyboard.up(key);
      await expect(page.locator("#gate [data-key=approve]"), key).toHaveText("Press again: this cannot be undone");
      expect(await stateOf(item.id), key).toEqual({ state: "open", decisions: 0 });
    }
  });
});

test.describe("of several items", () => {
  const bar = (page: Page) => page.locator("#inbox-batch-bar");
  const reason = (page: Page) => bar(page).locator("[name=note]");
  const press = (page: Page, verdict: "approve" | "deny") => bar(page).locator(`[name=decision][value=${verdict}]`).click();

  async function two() {
    const items = [await staged(unique("Many"), { stage: "Won" }), await staged(unique("Many"), { amount: 3 })];
    return items.map(({ item }) => item.id);
  }

  async function select(page: Page, ids: string[]) {
    for (const id of ids) await row(page, id).getByRole("checkbox").check();
  }

  async function notesOf(id: string) {
    const { decisions } = await api().get<{ decisions: { note?: string | null }[] }>(`/api/approvals/${id}`);
    return decisions.map(({ note }) => note ?? null);
  }

  test("an approval has no reason that was typed for a denial, and a denial's goes with it", async ({ page }) => {
    const [approved, denied] = [await two(), await two()];
    await signIn(page, "reviewer");
    await page.goto("/inbox");
    await hydrated(page);
    await select(page, approved);
    await page.keyboard.press("r");
    await reason(page).fill("Duplicate, do not contact");
    await page.keyboard.press("Escape");
    await press(page, "approve");
    for (const id of approved) await expect.poll(() => notesOf(id)).toEqual([null]);

    await select(page, denied);
    await page.keyboard.press("r");
    await reason(page).fill("Too early");
    await press(page, "deny");
    for (const id of denied) await expect.poll(() => notesOf(id)).toEqual(["Too early"]);
    await expect(bar(page)).toHaveCount(0);
  });

  test.describe("without time to undo", () => {
    test.use({ undoSeconds: 0 });

    test("each decision about several needs a second press of the same button", async ({ page }) => {
      const batches = [await two(), await two()];
      await signIn(page, "reviewer");
      await page.goto("/inbox");
      await hydrated(page);
      const button = bar(page).locator("[name=decision][value=approve]");
      for (const [turn, ids] of batches.entries()) {
        await select(page, ids);
        await expect(button, `batch ${turn}`).toHaveText("Approve 2");
        await button.click();
        await expect(button).toHaveText("Press again: this cannot be undone");
        for (const id of ids) expect(await stateOf(id), `batch ${turn}`).toEqual({ state: "open", decisions: 0 });
        await button.click();
        for (const id of ids) await expect.poll(async () => (await stateOf(id)).decisions).toBe(1);
      }
    });
  });
});

test("a text output waits, and the task's page says what waits for whom @nojs", async ({ page }) => {
  const agentSlug = unique("writer").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const metadata = { requiresApproval: true };
  const action = await api().createAction({ name: unique("Write"), agentSlug, outputType: "text", metadata });
  const session = await api().trigger(action.id);
  const claim = await api().claim(agentSlug);
  await api().complete(session.id, claim.attempt, `${"Dear Ms Lee, ".repeat(300)}goodbye.`);
  await signIn(page, "reviewer");
  await page.goto(`/actions/${action.id}`);
  await expect(page.locator(".facts").first()).toContainText("its output, and tool calls that ask for it");
  await expect(page.locator(".facts").first()).toContainText("any reviewer");
  const { items } = await api().get<{ items: Item[] }>("/api/approvals?assignedTo=all&limit=500");
  const item = items.find((waiting) => waiting.sessionId === session.id);
  await page.goto(`/inbox/${item?.id}`);
  await expect(page.locator("[name='value.text']")).toHaveValue(/goodbye\.$/);
});

test("today says whose work it shows, and remembers it @nojs", async ({ page }) => {
  const agentSlug = unique("nobody").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const action = await api().createAction({ name: unique("Nobody's"), agentSlug });
  const session = await api().trigger(action.id);
  await api().fail(session.id, (await api().claim(agentSlug)).attempt, `No supplier for ${agentSlug}.`);
  await signIn(page, "member");
  await page.goto("/today");
  await expect(page.getByText("Your tasks, and everything that needs your decision.")).toBeVisible();
  const failed = page.locator("#section-failed");
  await expect(failed).toContainText(/failures? belongs? to no one/);
  await expect(failed).not.toContainText(agentSlug);
  await page.getByRole("navigation", { name: "Whose tasks" }).getByRole("link", { name: "Everyone" }).click();
  await expect(page.getByText("Everyone's tasks, including tasks that are assigned to no one.")).toBeVisible();
  await expect(failed).toContainText(agentSlug);
  await page.goto("/today");
  await expect(failed).toContainText(agentSlug);
  await expect(page.getByRole("link", { name: "Everyone" })).toHaveAttribute("aria-current", "true");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Mine" }).click();
  await expect(failed).not.toContainText(agentSlug);
});

test.describe("while decisions about several items can be undone", () => {
  test.use({ undoSeconds: 60 });

  test("of several items those that are refused stay, each with its reason", async ({ page }) => {
    const [good, bad] = [await staged(unique("Good"), { stage: "Won" }), await staged(unique("Bad"), { amount: 3 })];
    await signIn(page, "reviewer");
    await page.goto("/inbox");
    await hydrated(page);
    for (const { item } of [good, bad]) await row(page, item.id).getByRole("checkbox").check();
    await expect(page.locator("#inbox-selected")).toHaveText("2 selected");
    // As if the proposal had changed since it was shown.
    const outdated = page.locator(`#selection [name="items[${bad.item.id}]"]`);
    await outdated.evaluate((box: HTMLInputElement) => (box.value = "0".repeat(64)));
    await page.locator("#inbox-batch-bar [data-key=approve]").click();
    await expect(row(page, bad.item.id).locator("[data-reason]")).not.toBeEmpty();
    await expect(row(page, bad.item.id)).toBeVisible();
    await expect(page.locator(".inbox-held [data-tone=bad]")).toContainText("1 decision was refused.");
    await expect(row(page, good.item.id)).toHaveCount(0);
    await expect(page.locator(".inbox-held")).toContainText("Approved:");
    expect((await stateOf(bad.item.id)).state).toBe("open");
    expect(await stateOf(good.item.id)).toEqual({ state: "held", decisions: 1 });
    // Its notice would cover a part of the pages of the next tests.
    await api().post(`/api/sessions/${good.item.sessionId}/cancel`);
  });
});

test("what was typed into a refused item is kept while another one is shown", async ({ page }) => {
  const refused = await staged(unique("Refused"), { stage: "Won", amount: 2 });
  const other = await staged(unique("Meanwhile"), { stage: "Lost", amount: 3 });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${refused.item.id}`);
  await hydrated(page);
  const amount = page.locator("[name='value.amount']");
  await amount.fill("many");
  await approve(page).click();
  // A refused decision opens its item again, whatever was shown meanwhile.
  await expect(page.locator("#gate-form .field-error")).toContainText("Enter a number");
  await expect(page.locator("#gate")).toHaveAttribute("data-id", refused.item.id);
  await row(page, other.item.id).locator(".row-title").click();
  await expect(page.locator("#gate")).toHaveAttribute("data-id", other.item.id);
  await expect(amount).toHaveValue("3");
  await expect(amount).not.toHaveAttribute("aria-invalid", "true");

  await row(page, refused.item.id).locator(".row-title").click();
  await expect(page.locator("#gate")).toHaveAttribute("data-id", refused.item.id);
  await expect(amount).toHaveValue("many");
  await expect(amount).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator("#gate-form .field-error")).toContainText("Enter a number");
  for (const { item } of [refused, other]) expect(await stateOf(item.id)).toEqual({ state: "open", decisions: 0 });
});
