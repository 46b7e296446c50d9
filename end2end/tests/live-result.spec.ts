/** The results of tools in the transcript of a session that runs. */
import { api, expect, hydrated, signIn, test } from "../support";

const part = (kind: string, type: string, id: string, more: object) => ({ type: kind, content: [{ type, toolCallId: id, toolName: `find-${id}`, ...more }] });

test("results that come one by one are shown in their calls without a reload", async ({ page }) => {
  const agent = `live-${Date.now().toString(36)}`;
  const { id } = await api().trigger((await api().createAction({ name: agent, agentSlug: agent })).id);
  const { attempt } = await api().claim(agent, 600);
  const calls = ["a", "b", "c", "d", "e", "f", "g"];
  await api().append(id, attempt, calls.map((call) => part("agent.tool_call", "tool-call", call, { input: {} })) as never);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  for (const call of calls) {
    await api().append(id, attempt, [part("agent.tool_result", "tool-result", call, { output: `found ${call}` })] as never);
    const tool = page.locator(`details.tool[data-tool-call-id="${call}"]`);
    await expect(tool.locator(".tool-outcome")).toContainText(`found ${call}`);
    await expect(tool).toHaveCount(1);
  }
  await expect(page.locator("details[data-state=waiting]")).toHaveCount(0);
  await api().complete(id, attempt);
});
