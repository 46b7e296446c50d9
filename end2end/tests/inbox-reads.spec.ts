/** The list of the inbox, where reading it fails. */
import { api, emptyInbox, expect, hydrated, signIn, test } from "../support";

test("an item is listed although the first reading of the list fails", async ({ page }) => {
  await emptyInbox();
  await signIn(page, "reviewer");
  await page.goto("/inbox?assignedTo=all");
  await hydrated(page);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const agentSlug = `again-${Date.now().toString(36)}`;
  let failed = 0;
  await page.route("**/inbox/list*", async (route) => {
    const answer = await route.fetch();
    if (failed > 0 || !(await answer.text()).includes(agentSlug)) return route.fulfill({ response: answer });
    failed += 1;
    await route.abort();
  });
  const action = await api().createAction({ name: "Read again", agentSlug, outputType: "text", metadata: { requiresApproval: true } });
  const session = await api().trigger(action.id);
  const claim = await api().claim(agentSlug);
  await api().complete(session.id, claim.attempt, "A report");
  await expect(page.locator("#inbox-rows > [data-id]", { hasText: agentSlug })).toBeVisible({ timeout: 15_000 });
  expect(failed).toBe(1);
});
