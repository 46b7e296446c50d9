/** The forms on the page of a session that waits: a message, and the results of custom tools. */
import { api, expect, expectAccessible, signIn, test } from "../support";

/** A session that its worker has yielded after this many calls of a custom tool. */
async function resting(status: "idle" | "awaiting_tool", calls: number) {
  const agent = `waits-${Date.now().toString(36)}-${calls}`;
  const action = await api().createAction({ name: `Waits ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  const call = (n: number) => [{ type: "tool-call", toolCallId: `c${n}`, toolName: "build", input: { branch: `branch-${n}`, flags: ["-v"] } }];
  const events = Array.from({ length: calls }, (_, n) => ({ type: "agent.tool_call", content: call(n) }));
  if (calls > 0) await api().append(id, attempt, events);
  await api().yield(id, attempt, status);
  return { id, agent };
}

test("a message continues an idle session, and a refused one is kept @nojs", async ({ page }) => {
  const { id, agent } = await resting("idle", 0);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await page.getByRole("link", { name: "Send a message" }).click();
  const message = page.getByLabel("Message", { exact: true });
  await message.fill("   ");
  await page.locator("#continue").getByRole("button", { name: "Send" }).click();
  await expect(page.locator("#message-text-error")).toContainText("needs a text");
  await message.fill("Also look at Globex.");
  await page.locator("#continue").getByRole("button", { name: "Send" }).click();
  await expect(page.getByText("Sent. The session is queued")).toBeVisible();
  await expect(page.locator("#continue")).toHaveCount(0);
  const claimed = await api().claim(agent, 600);
  expect(claimed.messages?.map(({ text }) => text)).toEqual(["Also look at Globex."]);
});

test("an open page gets the form when its session waits, and keeps what is typed there", async ({ page }) => {
  const agent = `waits-live-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Waits ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await expect(page.locator("#summary [data-part=badge]")).toContainText("Running");
  await expect(page.locator("#continue")).toHaveCount(0);
  await api().yield(id, attempt, "idle");
  const message = page.getByLabel("Message", { exact: true });
  await expect(message).toBeVisible();
  await message.fill("Also look at Globex.");
  // Someone else continues it: the header follows, and the text stays.
  await api().post(`/api/sessions/${id}/messages`, { text: "Go on." });
  await expect(page.locator("#summary [data-part=badge]")).toContainText("Pending");
  await expect(message).toHaveValue("Also look at Globex.");
  await expect(message).toBeFocused();
  const again = await api().claim(agent, 600);
  const call = [{ type: "tool-call", toolCallId: "c1", toolName: "build", input: {} }];
  await api().append(id, again.attempt, [{ type: "agent.tool_call", content: call }]);
  await message.fill("");
  await api().yield(id, again.attempt, "awaiting_tool");
  const result = page.getByRole("group", { name: "build c1" }).getByLabel("Result", { exact: true });
  await expect(result).toBeVisible();
  await expect(message).toHaveCount(0);
  await result.fill("done");
  await page.locator("#continue").getByRole("button", { name: "Send" }).click();
  await expect(page.getByText("Recorded.")).toBeVisible();
  await expect(page.locator("#continue")).toHaveCount(0);
});

test("results of tools are given by call, as text, as JSON or as an error @nojs", async ({ page }) => {
  const { id } = await resting("awaiting_tool", 2);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  const first = page.getByRole("group", { name: "build c0" });
  const second = page.getByRole("group", { name: "build c1" });
  await expect(first).toContainText("branch-0");
  await first.getByLabel("Result", { exact: true }).fill("{\"ok\": ");
  await first.getByLabel("The result is JSON").check();
  await second.getByLabel("Result", { exact: true }).fill("no disk");
  await second.getByLabel("It is an error").check();
  const send = page.locator("#continue").getByRole("button", { name: "Send" });
  await send.click();
  await expect(first).toContainText("This is not valid JSON");
  await expect(second.getByLabel("It is an error")).toBeChecked();
  await first.getByLabel("Result", { exact: true }).fill("{\"ok\": true}");
  await send.click();
  await expect(page.getByText("Recorded.")).toBeVisible();
  await expect(page.locator("#continue")).toHaveCount(0);
});

test("the forms of 1, 7 and 40 calls have no axe violation and fit a phone", async ({ page }) => {
  test.slow();
  await signIn(page, "operator");
  for (const calls of [1, 7, 40]) {
    const { id } = await resting("awaiting_tool", calls);
    // Without the rows of the calls, which other specs check.
    await page.goto(`/sessions/${id}?kinds=messages`);
    const sheet = page.locator("#continue details");
    if (calls > 3) await sheet.locator("summary").click();
    await expect(page.locator("#continue textarea")).toHaveCount(calls);
    await expectAccessible(page, `${calls} calls`);
  }
  const { id } = await resting("idle", 0);
  await page.goto(`/sessions/${id}`);
  await expectAccessible(page, "a message");
});
