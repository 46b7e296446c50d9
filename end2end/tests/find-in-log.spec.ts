/** Finding a text in one log: by the field and the links, with and without scripts, and by keys. */
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

/** A running session with 450 messages of its agent. Every 150th is about a zebra, and the last one is a tool call. */
async function log() {
  const agent = `find-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Find ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  const text = (n: number) => (n % 150 === 0 ? `A **Zebra** at ${n}.` : `said ${n}.`);
  const message = (n: number) => ({ type: "agent.message", content: [{ type: "text", text: text(n) }] });
  const { events } = await api().append(id, attempt, Array.from({ length: 450 }, (_, n) => message(n)));
  const call = { type: "tool-call", toolCallId: "c", toolName: "look_up", input: { query: "x" } };
  const result = { type: "tool-result", toolCallId: "c", toolName: "look_up", output: { animal: "a zebra" } };
  const { events: tool } = await api().append(id, attempt, [
    { type: "agent.tool_call", content: [call] },
    { type: "agent.tool_result", content: [result] },
  ]);
  const sequences = [events[0]!, events[150]!, events[300]!, tool[1]!].map((event) => event.sequence);
  return { id, sequences };
}

test("a text is found in the whole log and the matches are followed @nojs", async ({ page }) => {
  const { id, sequences } = await log();
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  const field = page.getByLabel("Find in this log");
  await field.fill("zebra");
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await expect(page.getByText("1 of 4", { exact: true })).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`\\?find=zebra&match=1#seq-${sequences[0]}$`));
  await expect(page.locator(`#seq-${sequences[0]} mark`)).toHaveText("Zebra");
  await expect(page.locator(`#seq-${sequences[0]}`)).toBeInViewport();
  await page.getByRole("link", { name: "Next", exact: true }).click();
  await expect(page.getByText("2 of 4", { exact: true })).toBeVisible();
  await expect(page.locator(`#seq-${sequences[1]}`)).toBeInViewport();
  await expectAccessible(page, "a log with matches");
  // The one before the first one is the last one: the result of a call, whose row is unfolded.
  await page.getByRole("link", { name: "Previous", exact: true }).click();
  await expect(page.getByText("1 of 4", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Previous", exact: true }).click();
  await expect(page.getByText("4 of 4", { exact: true })).toBeVisible();
  await expect(page.locator(`#seq-${sequences[3]} mark`)).toBeInViewport();
  // The marks on the timeline lead to the matches.
  await expect(page.locator('.timeline a:has([data-mark="find"])').first()).toHaveAttribute("href", /find=zebra&match=1#seq-/);
  await field.fill("giraffe");
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await expect(page.getByText("No event of this session contains “giraffe”.")).toBeVisible();
  await page.getByRole("link", { name: "Clear", exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${id}$`));
});

test("the keys of the search lead through its matches", async ({ page }) => {
  const { id, sequences } = await log();
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  const count = (words: string) => expect(page.getByText(words, { exact: true })).toBeVisible();
  await page.keyboard.press("f");
  const field = page.getByLabel("Find in this log");
  await expect(field).toBeFocused();
  await page.keyboard.type("zebra");
  await page.keyboard.press("Enter");
  await count("1 of 4");
  await hydrated(page);
  await page.keyboard.press("n");
  await count("2 of 4");
  await hydrated(page);
  await page.keyboard.press("Shift+N");
  await count("1 of 4");
  await hydrated(page);
  // With the same text, Enter goes on.
  await field.focus();
  await page.keyboard.press("Shift+Enter");
  await count("4 of 4");
  await hydrated(page);
  await expect(page.locator(`#seq-${sequences[3]} mark`)).toBeInViewport();
  await field.focus();
  await page.keyboard.press("Enter");
  await count("1 of 4");
  await hydrated(page);
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(new RegExp(`/sessions/${id}\\?before=\\d+#seq-${sequences[0]}$`));
  await expect(page.locator(".event mark")).toHaveCount(0);
  await expect(page.getByText("1 of 4", { exact: true })).toHaveCount(0);
});
