/**
 * Other inbox items than outputs: values that name records, agents in terminals; and notifications.
 */
import { execFileSync } from "node:child_process";
import { type Page } from "@playwright/test";
import { askQuestion, itemOf, slug, unique } from "../questions";
import { api, BINARY, expect, signIn, environment, test } from "../support";

// Nothing is undone here, and no test looks for the offer to undo.
test.use({ undoSeconds: 1 });

test("a relation is shown by title, and chosen from what it can lead to @nojs", async ({ page }) => {
  const companies = await api().post<{ id: string; slug: string }>("/api/entity-types", { name: unique("Company") });
  const [alpha, beta] = await Promise.all(
    ["Alpha", "Beta"].map((title) => api().post<{ id: string }>("/api/entities", { typeId: companies.id, title: unique(title) })),
  );
  const deals = await api().post<{ id: string }>("/api/entity-types", {
    name: unique("Deal"),
    fields: [{ slug: "customer", name: "Customer", type: "relation", relationType: companies.slug }],
  });
  const title = unique("Renewal");
  const deal = await api().post<{ id: string }>("/api/entities", { typeId: deals.id, title, fields: { customer: alpha!.id } });
  const agentSlug = slug("linker");
  const action = await api().createAction({ name: "Link", slug: slug("link"), agentSlug, targetEntityId: deal.id, outputType: "entity", metadata: { requiresApproval: true } });
  const session = await api().trigger(action.id);
  const { attempt } = await api().claim(agentSlug);
  await api().complete(session.id, attempt, { customer: beta!.id });
  const item = await itemOf(session.id);
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await expect(page.locator("#gate-title")).toHaveText(/wants to set Customer of Renewal .* from Alpha .* to Beta /);
  await expect(page.locator(`#inbox-rows [data-id="${item.id}"]`)).toContainText("Customer → Beta");
  await expect(page.locator(".gate-values .gate-now")).toContainText("Alpha");
  const customer = page.locator('#gate-form [name="value.customer"]');
  await expect(customer.locator("option:checked")).toContainText("Beta");
  await customer.selectOption(alpha!.id);
  await page.locator(".gate-bar").getByRole("button", { name: /^Approve/ }).click();
  await api().untilStatus(session.id, "completed");
  const written = await api().get<{ fields: object }>(`/api/entities/${deal.id}`);
  expect(written.fields, "the reviewer's choice, not the agent's").toEqual({ customer: alpha!.id });
});

/** Creates a token of a person, as for their coding agent. */
function tokenOf(email: string) {
  return execFileSync(BINARY, ["token", "add", "--name", unique("agent"), "--tenant", "acme", "--role", "member", "--user", email], {
    env: { ...process.env, SHIFTBOOK_DATA_DIR: environment().dataDir },
    encoding: "utf8",
  }).trim();
}

test("a coding agent that waits in its terminal is in the inbox of its person, with what it asks @nojs", async ({ page, browser }) => {
  test.slow();
  const person = environment().tenants.acme.people.member;
  const hooks = api(tokenOf(person.email));
  const prompt = unique("Tidy the build");
  const id = slug("session");
  const send = (event: string, more: object) => hooks.post("/api/hooks/claude-code", { session_id: id, hook_event_name: event, cwd: "/home/ann/work", ...more });
  const call = { tool_name: "Bash", tool_input: { command: "make clean" }, tool_use_id: "t-1" };
  await send("UserPromptSubmit", { prompt });
  await send("PermissionRequest", call);
  await signIn(page, "member");
  for (const path of ["/inbox", "/today?bucket=needs_me"]) {
    await page.goto(path);
    await expect(page.getByText(/answer in (your|the) terminal/i).first()).toBeVisible();
    await page.getByRole("link", { name: `work: ${prompt}`, exact: true }).first().click();
    await expect(page).toHaveURL(/\/sessions\//);
    await expect(page.locator("#summary")).toContainText(prompt);
  }
  // No other person sees it.
  const other = await browser.newPage({ baseURL: environment().url });
  await signIn(other, "reviewer");
  await other.goto("/inbox");
  await expect(other.getByText(prompt)).toHaveCount(0);
  await other.close();
  await send("PostToolUse", { ...call, tool_response: "ok" });
  await page.goto("/inbox");
  await expect(page.getByText(prompt)).toHaveCount(0);
  await send("SessionEnd", { reason: "exit" });
});

interface ShownNotification {
  title: string;
  body: string;
  tag: string;
}

/** Replaces the Notification API: records what the page shows, and can click it. */
async function recordNotifications(page: Page) {
  await page.addInitScript(() => {
    const shown: (ShownNotification & { target: EventTarget })[] = [];
    class Recorded extends EventTarget {
      static permission = localStorage.getItem("test-permission") ?? "default";
      static requestPermission() {
        // As in browsers, permission can be requested only after a click.
        if (!navigator.userActivation.isActive) return Promise.resolve("default");
        Recorded.permission = "granted";
        localStorage.setItem("test-permission", "granted");
        return Promise.resolve("granted");
      }
      close() {}
      constructor(title: string, options: { body: string; tag: string }) {
        super();
        shown.push({ title, body: options.body, tag: options.tag, target: this });
      }
    }
    Object.assign(window, { Notification: Recorded, shown });
    Object.defineProperty(document, "hidden", { get: () => sessionStorage.getItem("test-hidden") === "1" });
  });
}

const notifications = (page: Page) => page.evaluate(() => (window as unknown as { shown: ShownNotification[] }).shown.map(({ title, body, tag }) => ({ title, body, tag })));

/** Hides or shows the page, and waits until the other tabs can know it. */
async function hide(page: Page, hidden: boolean) {
  await page.evaluate((on) => {
    sessionStorage.setItem("test-hidden", on ? "1" : "0");
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await someTabVisible(page, !hidden);
}

/** Waits until some tab, or none, holds the lock of visible tabs. */
const someTabVisible = (page: Page, expected: boolean) =>
  expect
    .poll(() => page.evaluate(async () => (await navigator.locks.query()).held!.some(({ name }) => name === "shiftbook-visible")))
    .toBe(expected);

test("a browser tells what newly waits, after a press of its button alone, and leads there", async ({ page }) => {
  test.slow();
  await recordNotifications(page);
  await signIn(page, "reviewer");
  await page.goto("/settings#notifications");
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const button = page.locator("#notifications [data-notify]");

  // No one has turned notifications on.
  await hide(page, true);
  const badge = page.locator("#needs-me");
  const waiting = (await badge.textContent()) ?? "";
  await askQuestion({ message: unique("Before") });
  // Earlier tests may have left items: the page has heard of this one when the number changes.
  await expect(badge).not.toHaveText(waiting);
  await expect(badge).toBeVisible();
  expect(await notifications(page)).toEqual([]);

  await button.click();
  await expect(button).toHaveText("Stop notifying in this browser");
  const name = unique("Trip");
  const { item } = await askQuestion({ message: "Which region?" }, name);
  await expect.poll(() => notifications(page)).toEqual([{ title: expect.stringContaining("asks you a question"), body: name, tag: item.id }]);

  // No notification while a tab is visible.
  await hide(page, false);
  const { session } = await askQuestion({ message: "Which day?" });
  await page.goto("/inbox");
  await expect(page.locator(`#inbox-rows [data-session="${session.id}"]`)).toBeAttached();
  expect(await notifications(page)).toEqual([]);

  // A click on the notification opens the item.
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  await hide(page, true);
  const last = await askQuestion({ message: "Which hotel?" });
  await expect.poll(async () => (await notifications(page)).map(({ tag }) => tag)).toEqual([last.item.id]);
  await page.evaluate(() => (window as unknown as { shown: { target: EventTarget }[] }).shown[0]!.target.dispatchEvent(new Event("click")));
  await expect(page).toHaveURL(new RegExp(`/inbox/${last.item.id}`));

  // Turned off again, from the inbox.
  await page.locator(".inbox-list [data-notify]").click();
  await expect(page.locator(".inbox-list [data-notify]")).toHaveText("Notify in this browser");
});

test("a browser tells nothing while another tab is looked at", async ({ page }) => {
  test.slow();
  await recordNotifications(page);
  await signIn(page, "reviewer");
  await page.goto("/settings#notifications");
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  await page.locator("#notifications [data-notify]").click();
  await expect(page.locator("#notifications [data-notify]")).toHaveText("Stop notifying in this browser");
  await hide(page, true);

  const other = await page.context().newPage();
  await recordNotifications(other);
  await other.goto("/inbox");
  await expect(other.locator(".connection")).toHaveAttribute("data-state", "live");
  await someTabVisible(other, true);
  const { session } = await askQuestion({ message: "Which seat?" });
  await expect(other.locator(`#inbox-rows [data-session="${session.id}"]`)).toBeAttached();

  // The only notification is the one sent while no tab was visible.
  await hide(other, true);
  const { item } = await askQuestion({ message: "Which meal?" });
  await expect.poll(async () => (await notifications(page)).map(({ tag }) => tag)).toEqual([item.id]);
  expect(await notifications(other)).toEqual([]);
  await other.close();
});
