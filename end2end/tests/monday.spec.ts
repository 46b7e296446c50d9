/** Two mornings by keyboard alone: of an operator after many failures, and of a reviewer with forty items. */
import type { Locator, Page } from "@playwright/test";
import { letters, slug } from "../questions";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

/** Presses Tab until the element has the focus. */
async function reach(page: Page, target: Locator) {
  const TABS_MAX = 300;
  for (let step = 0; step < TABS_MAX; step += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  await expect(target, "the element that Tab was to reach").toBeFocused();
}

/** Reaches a link or button, and presses it. */
async function press(page: Page, target: Locator) {
  await reach(page, target);
  await page.keyboard.press("Enter");
}

/** Failures of each cause, by what its message says. */
const FAILURES: [string, number][] = [
  ["ledger closed", 16],
  ["card refused", 8],
  ["mailbox full", 6],
  ["invoice missing", 4],
  ["address unknown", 3],
  ["lock held", 2],
  ["disk slow", 1],
];

/** Fails forty sessions of one agent. In the first one the output of a tool has the words. */
async function fail(about: string, words: string) {
  const agent = slug("monday");
  const worker = api("worker");
  const action = await api().createAction({ name: `Monday ${about}`, agentSlug: agent });
  for (const [what, count] of FAILURES) {
    for (let number = 1; number <= count; number += 1) {
      const { id } = await api().trigger(action.id);
      const { attempt } = await worker.claim(agent);
      const call = { type: "tool-call", toolCallId: "c", toolName: "book", input: { number } };
      const value = number === 1 && what === FAILURES[0]![0] ? `refused: ${words}` : "refused";
      const result = { type: "tool-result", toolCallId: "c", toolName: "book", output: { type: "error-text", value } };
      const events = [{ type: "agent.tool_call", content: [call] }, { type: "agent.tool_result", content: [result] }];
      await worker.append(id, attempt, events);
      await worker.fail(id, attempt, `${what} for ${about}, entry ${number}`);
    }
  }
}

test("an operator finds the call that broke, and runs its cause again", async ({ page }) => {
  test.slow();
  const [about, needle] = [letters(), letters()];
  const words = `upstream quota ${needle}`;
  await fail(about, words);
  await signIn(page, "operator");
  // An event can be found a moment after it was recorded.
  await expect(async () => {
    await page.goto(`/search?${new URLSearchParams({ q: words })}`);
    await expect(page.locator(".search-event")).toBeVisible({ timeout: 500 });
  }).toPass();

  await page.goto("/today");
  await hydrated(page);
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.locator("#palette-input")).toBeFocused();
  await page.keyboard.type(words);
  const chosen = page.locator('#palette-list [role=option][aria-selected="true"]:visible');
  await expect(page.locator("#palette-list")).toContainText(`Search all events for “${words}”`);
  await expect(async () => {
    if (!(await chosen.textContent())?.includes("Search all events")) await page.keyboard.press("ArrowDown");
    await expect(chosen).toContainText("Search all events", { timeout: 200 });
  }).toPass();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/search\?q=/);
  await press(page, page.locator(".search-link"));
  await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]{36}\?before=\d+#seq-\d+$/);
  await expect(page.locator(":target")).toContainText(needle);

  await press(page, page.getByRole("link", { name: "15 more like this" }));
  await expect(page.getByRole("heading", { level: 1 })).toContainText("ledger closed");
  await press(page, page.getByRole("link", { name: "Failures", exact: true }).first());
  await page.waitForURL(/\/failures(\?|$)/);
  await hydrated(page);
  const causes = page.locator(".row-title", { hasText: about });
  await expect(causes).toHaveCount(FAILURES.length);
  const cause = causes.filter({ hasText: "ledger closed" });
  const rows = await page.locator(".row-title").allTextContents();
  const at = rows.findIndex((text) => text.includes(about) && text.includes("ledger closed"));
  for (let step = 0; step <= at; step += 1) await page.keyboard.press("j");
  await expect(cause).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("ledger closed");

  await press(page, page.getByRole("button", { name: "Run again…", exact: true }));
  await expect(page.getByText("16 sessions would run again as new sessions.")).toBeVisible();
  const pace = page.getByLabel("How many");
  await reach(page, pace);
  await page.keyboard.type("5");
  await expect(pace).toHaveValue("5");
  await expectAccessible(page, "the preview with a pace");
  await press(page, page.getByRole("button", { name: "Run 16 again" }));
  await expect(page).toHaveURL(/\/sessions\/paced\/[0-9a-f-]{36}$/);
  await expect(page.getByRole("status").filter({ hasText: "begun" })).toHaveText("5 of 16 sessions have begun.");
  await expectAccessible(page, "a paced run under way");
  await press(page, page.getByRole("button", { name: /^Cancel \d+ waiting$/ }));
  await expect(page.getByText("Cancelled. 5 of 16 sessions had begun; they continue.")).toBeVisible();
  await hydrated(page);
  await expectAccessible(page, "a paced run that was cancelled");
});

interface Item {
  id: string;
  sessionId: string;
  similarKey: string;
}

/** Lets a new agent ask for these calls of a tool. Returns the agent, and the items in this order. */
async function ask(toolName: string, inputs: object[]) {
  const agent = slug("monday");
  return { agent, items: await askOf(agent, toolName, inputs) };
}

async function askOf(agent: string, toolName: string, inputs: object[]) {
  const sessions: string[] = [];
  for (const toolInput of inputs) {
    await api().post("/api/sessions", { sessionType: "agent", agentSlug: agent });
    const { session, attempt } = await api().claim(agent, 600);
    const pausedToolCall = { toolCallId: "c", toolName, toolInput };
    await api().post(`/api/sessions/${session.id}/yield`, { attempt, status: "awaiting_tool", pausedToolCall });
    sessions.push(session.id);
  }
  const { items } = await api().get<{ items: Item[] }>("/api/approvals?assignedTo=all&limit=1000");
  return sessions.map((id) => items.find((item) => item.sessionId === id)!);
}

async function decisionOf({ id }: Item) {
  interface Decided { approval: { decision: { decision: string } | null } }
  return (await api().get<Decided>(`/api/approvals/${id}`)).approval.decision?.decision ?? "open";
}

test.describe("a reviewer", () => {
  test.use({ undoSeconds: 1 });

  test("decides forty items, and lets a rule decide such items from now on", async ({ page }) => {
    test.slow();
    const amounts = [...Array(30).keys()].map((number) => 100 + number).concat(90_000, 95_000);
    const { agent, items } = await ask("refund", amounts.map((amount, number) => ({ amount, charge: `ch_${number}` })));
    const people = [...Array(8).keys()].map((number) => ({ to: `kim${number}@acme.test`, subject: "Your refund" }));
    const { items: mails } = await ask("send_mail", people);
    await signIn(page, "admin");

    await page.goto("/inbox");
    await hydrated(page);
    await press(page, page.locator(`[href="/inbox/review?group=${items[0]!.similarKey}"]`));
    await expect(page.locator("h1")).toHaveText("32 refund calls");
    await hydrated(page);
    const boxes = (section: string) => page.locator(`#${section}-title ~ .selection-scroll tr[data-id]`).getByRole("checkbox");
    await expect(boxes("notable")).toHaveCount(2);
    for (const box of await boxes("notable").all()) await expect(box).not.toBeChecked();
    for (const box of await boxes("alike").all()) await expect(box).toBeChecked();
    await page.keyboard.press("a");
    await expect(page.locator("main")).toContainText("Approve 30 items? Amount 100 to 129");
    expect(await decisionOf(items[0]!)).toBe("open");
    await press(page, page.getByRole("button", { name: "Yes, approve" }));
    await expect(page.locator("main")).toContainText("You decided 30 items.");
    expect(await decisionOf(items[29]!)).toBe("approve");
    expect(await decisionOf(items[30]!), "an odd one waits").toBe("open");

    await page.goto(`/inbox/${mails[0]!.id}`);
    await hydrated(page);
    await page.keyboard.press("e");
    await expect(page.locator('#gate-form [name^="value."]:focus')).toHaveCount(1);
    await page.keyboard.type("new-");
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect.poll(() => decisionOf(mails[0]!)).toBe("edit");
    // The next one of the group is open.
    await expect(page).not.toHaveURL(new RegExp(mails[0]!.id));
    await page.keyboard.press("r");
    await expect(page.locator('.gate-bar [name="note"]')).toBeFocused();
    await page.keyboard.type("Not to this address.");
    await page.keyboard.press("ControlOrMeta+Enter");
    await expect.poll(async () => (await Promise.all(mails.map(decisionOf))).filter((said) => said === "deny")).toHaveLength(1);

    // The odd ones wait with a third one, as a group whose heading offers the rule.
    await askOf(agent, "refund", [{ amount: 93_000, charge: "ch_40" }]);
    const heading = page.locator(`[data-group="${items[0]!.similarKey}"]`);
    const offer = heading.getByRole("link", { name: "Create a rule" });
    await expect(async () => {
      await page.goto("/inbox");
      await expect(offer).toBeVisible({ timeout: 500 });
    }).toPass();
    await hydrated(page);
    await press(page, offer);
    await expect(page.locator("h1")).toHaveText("New rule");
    const share = page.getByLabel("Still ask, percent");
    await reach(page, share);
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("0");
    await press(page, page.getByRole("button", { name: "Test against 90 days" }));
    const facts = page.locator("#tested .facts");
    await expect(facts).toContainText("Agreed30");
    await expect(facts).toContainText("Would have differed0");
    await press(page, page.getByRole("button", { name: "Create rule" }));
    await expect(page.getByText("Rule saved.")).toBeVisible();
  });
});
