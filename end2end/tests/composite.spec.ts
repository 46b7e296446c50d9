/** Composite tools: made in the editor, run from their page, and linked with the sessions of their steps. */
import { api, expect, expectAccessible, signIn, test } from "../support";

test("a composite tool is made, run and followed through its steps @nojs", async ({ page }, info) => {
  const of = info.project.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const [step, whole] = [`geocode-${of}`, `trip-${of}`];
  const operator = api("operator");
  const inputSchema = { type: "object", properties: { city: { type: "string", title: "City" } } };
  await operator.post("/api/tools", { slug: step, name: `Geocode ${of}`, kind: "worker", inputSchema });
  await operator.post(`/api/tools/${step}/publish`);
  const definition = (pointer: string) =>
    JSON.stringify(
      {
        kind: "composite",
        composite: { steps: [{ name: "place", tool: step, input: { city: pointer } }] },
        inputSchema,
      },
      null,
      2,
    );
  await signIn(page, "admin");
  await page.goto("/tools/new");
  await page.locator('input[name="name"]').fill(`Trip ${of}`);
  await page.locator('input[name="slug"]').fill(whole);
  await page.locator('textarea[name="definition"]').fill(definition("{/input/town}"));
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.locator("#edit-definition-error")).toContainText("composite.steps[0].input/city");
  await page.locator('textarea[name="definition"]').fill(definition("{/input/city}"));
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("Tool saved.")).toBeVisible();
  await expect(page.getByRole("table", { name: "Steps" }).getByRole("link", { name: step })).toBeVisible();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Tool published.")).toBeVisible();
  await expectAccessible(page, "the page of a composite tool");
  await page.locator('input[name="input.city"]').fill("Oslo");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const worker = api("worker");
  const claimed = await worker.claim(`tool:${step}`);
  expect(claimed.input).toEqual({ city: "Oslo" });
  await worker.complete(claimed.session.id, claimed.attempt, { at: [59, 10] });
  const run = claimed.session.parentId as string;
  await operator.untilStatus(run, "completed");
  await page.goto(`/sessions/${run}`);
  await expect(page.getByText("Step completed place")).toBeVisible();
  await expectAccessible(page, "the transcript of a composite run");
  await page.getByRole("link", { name: "Session of place" }).first().click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${claimed.session.id}$`));
  await expect(page.getByRole("link", { name: `Trip ${of}` })).toBeVisible();
});
