/** The page of a session: where it opens, links into it, and what changes on it while the session runs. */
import { type Page } from "@playwright/test";
import { api, expect, hydrated, pageLoaded, signIn, test } from "../support";

const messageEvent = (n: number) => ({ type: "agent.message", content: [{ type: "text", text: `said ${n}.` }] });

/** Creates a running session with this many messages. */
async function running(messages: number) {
  const agent = `pages-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Pages ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  const events = Array.from({ length: messages }, (_, n) => messageEvent(n));
  if (messages > 0) await api().append(id, attempt, events);
  return { id, attempt, agent };
}

/** Whether an element is at least partly inside the viewport. */
const isSeen = (page: Page, text: string) => expect(page.getByText(text, { exact: true })).toBeInViewport();

test("a link to any event leads to the page that has it", async ({ page }) => {
  const { id } = await running(450);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}#seq-7`);
  await expect(page).toHaveURL(/\?before=107#seq-7$/);
  await expect(page.locator("#seq-7")).toBeInViewport();
  // The same on a page that is already open.
  await page.evaluate(() => (location.hash = "#seq-400"));
  await expect(page.locator("#seq-400")).toBeInViewport();
  // A link to a missing event changes nothing and does not load a page again and again.
  await page.goto(`/sessions/${id}#seq-99999`);
  await hydrated(page);
  await expect(page.locator("#seq-450")).toBeAttached();
});

test("a session that goes on opens at its newest event, one that has ended at its top", async ({ page }) => {
  const { id, attempt } = await running(120);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  await isSeen(page, "said 119.");
  await api().complete(id, attempt);
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  await isSeen(page, "said 0.");
  await expect(page.getByRole("heading", { level: 1 })).toBeInViewport();
  const failing = await running(120);
  await api().fail(failing.id, failing.attempt, "The disk is full");
  await page.goto(`/sessions/${failing.id}`);
  await hydrated(page);
  await expect(page.getByRole("heading", { level: 1 })).toBeInViewport();
  await expect(page.getByRole("button", { name: /^Run again/ })).toBeInViewport();
  await expect(page.locator(".session-error")).toBeInViewport();
  await page.getByRole("link", { name: /^Failed at event \d+$/ }).click();
  await expect(page.locator('.event[data-kind="session.error"]')).toBeInViewport();
});

test("chips, result and the line that says it is queued follow the session", async ({ page }) => {
  const agent = `moves-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Moves ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  await expect(page.getByText("Queued.")).toBeVisible();
  const messages = page.locator('[data-chip="messages"]');
  await expect(messages).toBeHidden();
  const { attempt } = await api().claim(agent, 600);
  await api().append(id, attempt, [messageEvent(0), messageEvent(1)]);
  await expect(page.getByText("Queued.")).toBeHidden();
  await expect(messages).toHaveText(/Messages\s*2/);
  await messages.click();
  await api().append(id, attempt, [messageEvent(2)]);
  await expect(messages).toHaveText(/Messages\s*3/);
  await expect(messages).toHaveAttribute("aria-current", "true");
  await api().complete(id, attempt, { text: "forty-two" });
  await expect(page.locator(".sidebar")).toContainText("forty-two");
});

test("a reason that is being typed outlives a change of the session's status", async ({ page }) => {
  const { id, attempt } = await running(1);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  const actions = page.locator("#summary .session-actions");
  const decision = actions.getByRole("link", { name: /^(Decide|Show what it is waiting for)$/ });
  const reason = actions.locator('input[name="reason"]');
  await actions.locator(".popover > summary").click();
  await reason.click();
  await page.keyboard.type("It takes");
  await api().post(`/api/sessions/${id}/yield`, { attempt, status: "waiting_human", question: { message: "Which one?" } });
  await expect(page.locator("#summary [data-part=badge]")).toContainText("Needs a person");
  await page.keyboard.type(" too long");
  await expect(reason).toHaveValue("It takes too long");
  await expect(decision).toHaveCount(0);
  // The header is read again when the popover is closed.
  await actions.locator(".popover > summary").click();
  await expect(decision).toBeVisible();
  await api().post(`/api/sessions/${id}/cancel`);
});

test("raw JSON stands right below its event", async ({ page }) => {
  const { id, attempt } = await running(3);
  await api().complete(id, attempt);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  for (const row of [page.locator(".event", { hasText: "said 1." }), page.locator('.transcript > [data-kind="session.status_change"]').first()]) {
    await row.hover();
    await row.locator(".raw > summary").click();
    const json = row.locator(".raw pre");
    await expect(json).toBeVisible();
    const hole = await row.evaluate((row) => {
      const raw = row.querySelector<HTMLElement>(".raw")!;
      const before = raw.previousElementSibling!.getBoundingClientRect().bottom;
      return raw.querySelector("pre")!.getBoundingClientRect().top - before;
    });
    expect(hole).toBeLessThan(40);
  }
});

test("raw JSON of all events is shown once each", async ({ page }) => {
  const { id, attempt } = await running(2);
  await api().complete(id, attempt);
  await signIn(page, "operator");
  // Only rows on the screen are asked for. Here all of them are, wherever the page has scrolled to.
  await page.setViewportSize({ width: 1280, height: 4_000 });
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  let answers = 0;
  page.on("response", (response) => void (response.url().includes("afterSequence=") && response.url().includes("limit=") && (answers += 1)));
  await page.getByRole("button", { name: "Raw JSON", exact: true }).click();
  await expect(page.locator(".raw pre:visible").first()).toBeVisible();
  // Unfolding sends events of its own. After a second press and a third one, those of the first have been handled.
  await page.getByRole("button", { name: "Raw JSON", exact: true }).click();
  await expect(page.locator(".raw[open]")).toHaveCount(0);
  await page.getByRole("button", { name: "Raw JSON", exact: true }).click();
  await expect(page.locator(".raw pre:visible").first()).toBeVisible();
  await pageLoaded(page);
  const counts = await page.locator(".raw[open]").evaluateAll((all) => all.map((raw) => raw.querySelectorAll("pre").length));
  expect(counts.length).toBeGreaterThan(3);
  expect(new Set(counts)).toEqual(new Set([1]));
  expect(answers).toBe(1);
});

test("type has the sizes that were designed, and grows with the reader's own font size", async ({ page }) => {
  const { id, attempt } = await running(1);
  await api().append(id, attempt, [{ type: "agent.tool_call", content: [{ type: "tool-call", toolCallId: "a", toolName: "find", input: { q: 1 } }] }]);
  await api().complete(id, attempt);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  const fonts = () =>
    page.evaluate(() =>
      ["body", ".facts", ".tool-call"].map((selector) => {
        const { fontSize, lineHeight } = getComputedStyle(document.querySelector(selector)!);
        return `${fontSize}/${lineHeight}`;
      }),
    );
  expect(await fonts()).toEqual(["14px/20px", "12px/16px", "12.5px/18px"]);
  // Simulates a browser with the font size "very large".
  await page.evaluate(() => (document.documentElement.style.fontSize = "32px"));
  expect(await fonts()).toEqual(["28px/40px", "24px/32px", "25px/36px"]);
});
