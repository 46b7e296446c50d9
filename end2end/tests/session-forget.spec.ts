/** Forgetting what is captured of a session as training data: a page with forms alone. */
import { api, expect, expectAccessible, OFTEN, signIn, test } from "../support";

test("a session is forgotten after a look at what would go @nojs", async ({ page }, info) => {
  const operator = api();
  const agent = `forgot-${info.project.name.replace(/[^a-z]+/g, "")}${info.retry}-${Date.now().toString(36)}`;
  const action = await operator.createAction({ name: `Forgotten ${agent}`, agentSlug: agent });
  const { id } = await operator.trigger(action.id);
  const { attempt } = await operator.claim(agent, 600);
  await operator.post(`/api/sessions/${id}/complete`, { attempt, result: "done" });
  await signIn(page, "admin");
  const captured = async () => {
    const response = await page.request.get(`/api/interactions?sessionId=${id}`);
    return ((await response.json()) as { items: unknown[] }).items.length;
  };
  await expect.poll(captured, OFTEN).toBe(1);
  await page.goto(`/sessions/${id}`);
  await page.getByRole("link", { name: "Forget", exact: true }).click();
  await expect(page.getByText("1 prompt with answers in the training data")).toBeVisible();
  await expectAccessible(page, "what would be deleted");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("type the word forget")).toBeVisible();
  await page.getByLabel(/Type .forget. to delete/).fill("forget");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("Nothing more of this session is captured.")).toBeVisible();
  await expectAccessible(page, "what was deleted");
  expect(await captured()).toBe(0);
});
