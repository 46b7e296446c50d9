/** One answer to several questions of the inbox that are alike. */
import { api, expect, expectAccessible, hydrated, signIn, test, OFTEN } from "../support";

interface Approval {
  id: string;
  title: string;
  decisions: { decision: string; value: unknown }[];
}

/** Has an agent ask the same question in several sessions. Returns the ids of the inbox items. */
async function ask(count: number, message: string) {
  const agent = `asks-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Ask ${agent}`, agentSlug: agent });
  for (let n = 0; n < count; n += 1) {
    const { id } = await api().trigger(action.id);
    const { attempt } = await api().claim(agent, 600);
    await api().post(`/api/sessions/${id}/yield`, { attempt, status: "waiting_human", question: { message } });
  }
  const { items } = await api().get<{ items: Approval[] }>("/api/approvals?assignedTo=all&limit=1000");
  return items.filter((item) => item.title === message).map(({ id }) => id);
}

test.use({ undoSeconds: 60 });

test("questions that are alike are listed, counted and answered at once, each on its own @nojs", async ({ page }, info) => {
  const scripts = info.project.name === "js";
  const message = `Which region, ${Date.now().toString(36)}?`;
  const items = await ask(3, message);
  await signIn(page, "reviewer");
  await page.goto("/inbox");
  await hydrated(page);
  await page.locator(".inbox-group", { hasText: message }).getByRole("link", { name: "Select 3" }).click();
  if (!scripts) await page.getByRole("button", { name: /Review and decide/ }).click();
  const selection = page.locator("#selection");
  await expect(selection.locator("tbody tr")).toHaveCount(3);
  await expect(selection.getByRole("button", { name: /^Approve/ })).toHaveCount(0);
  if (scripts) await page.keyboard.press("i");
  else await selection.getByText("Answer all…").click();
  const answer = selection.getByLabel("Answer");
  await expect(answer).toBeVisible();
  if (scripts) await expect(answer).toBeFocused();
  await expect(selection).toContainText("Each of the 3 selected questions gets this answer");
  await answer.fill("The north");
  await expectAccessible(page, "one answer to three questions");
  const send = selection.getByRole("button", { name: "Answer 3" });
  if (scripts) {
    await answer.press("ControlOrMeta+Enter");
    await expect(selection.getByRole("button", { name: "Press again: 3 questions get this answer" })).toBeVisible();
    await answer.press("ControlOrMeta+Enter");
  } else {
    await send.click();
  }
  for (const id of items) {
    const decisions = async () => (await api().get<Approval>(`/api/approvals/${id}`)).decisions.map(({ decision, value }) => [decision, value]);
    await expect.poll(decisions, OFTEN).toEqual([["respond", "The north"]]);
  }
  await expect(page.locator(".inbox-held")).toContainText("3");
});
