/** A tool's form is kept while it is filled in, and its run shows how far it is. */
import { api, expect, expectAccessible, signIn, test } from "../support";

test("a draft is continued after a reload, and its run shows progress", async ({ page }, info) => {
  const slug = `draft-${info.project.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const operator = api("operator");
  const inputSchema = { type: "object", properties: { city: { type: "string", title: "City" } } };
  await operator.post("/api/tools", { slug, name: `Draft ${slug}`, kind: "worker", inputSchema });
  await operator.post(`/api/tools/${slug}/publish`);
  await signIn(page, "admin");
  await page.goto(`/tools/${slug}`);
  await page.locator('input[name="input.city"]').fill("Oslo");
  await expect(page.locator("form[data-draft] [data-state]")).toHaveText("Draft saved");
  await page.reload();
  await expect(page.locator('input[name="input.city"]')).toHaveValue("");
  await page.getByRole("link", { name: "Continue your draft" }).click();
  await expect(page.locator('input[name="input.city"]')).toHaveValue("Oslo");
  await expectAccessible(page, "the page of a tool with a draft");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page).toHaveURL(/\/sessions\//);
  const worker = api("worker");
  const claimed = await worker.claim(`tool:${slug}`);
  expect(claimed.input).toEqual({ city: "Oslo" });
  // Reports are sent to those who follow the session already, so they are repeated until one is seen.
  await expect(async () => {
    const report = { attempt: claimed.attempt, done: 3, total: 10, note: "reading" };
    await worker.post(`/api/sessions/${claimed.session.id}/progress`, report);
    await expect(page.locator("[data-progress]")).toHaveText("3 of 10: reading", { timeout: 300 });
  }).toPass();
  await worker.complete(claimed.session.id, claimed.attempt, { done: true });
  await expect(page.locator("[data-progress]")).toHaveText("");
});
