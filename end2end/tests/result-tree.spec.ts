/** A result with parts is a tree: it folds without scripts, and scripts search in it and name the path of a part. */
import { slug as uniqueSlug } from "../questions";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

test("a tree is searched, and the path of a part is copied by keys @nojs", async ({ page, javaScriptEnabled }, info) => {
  const slug = `tree-${info.project.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const operator = api("operator");
  const inputSchema = { type: "object", properties: {} };
  await operator.post("/api/tools", { slug, name: `Tree ${slug}`, kind: "worker", inputSchema });
  await operator.post(`/api/tools/${slug}/publish`);
  await operator.post(`/api/tools/${slug}/run`, { input: {} });
  const worker = api("worker");
  const { session, attempt } = await worker.claim(`tool:${slug}`);
  const cities = { oslo: { people: 700_000, "a/b": { deep: { name: "Aker" } } }, bergen: { people: 290_000 } };
  await worker.complete(session.id, attempt, { cities });
  await signIn(page, "admin");
  await page.goto(`/tools/${slug}`);
  const tree = page.locator(".result-tree");
  const part = (key: string) => tree.locator("summary", { has: page.getByText(key, { exact: true }) });
  await expect(part("oslo")).toBeVisible();
  if (javaScriptEnabled === false) {
    await expect(page.locator(".result-tools")).toHaveCount(0);
    await part("oslo").click();
    await expect(tree.getByText("700000")).toBeVisible();
    return;
  }
  await page.context().grantPermissions(["clipboard-write"]);
  await page.getByRole("searchbox", { name: "Search in the result" }).fill("aker");
  await expect(page.locator(".result-tools [role=status]")).toHaveText("1 part found");
  await expect(tree.getByText("Aker")).toBeVisible();
  await expect(part("bergen")).toBeHidden();
  const path = page.getByRole("textbox", { name: "JSON Pointer of the part" });
  await page.keyboard.press("Enter");
  await expect(path).toHaveValue("/cities/oslo/a~1b/deep/name");
  await page.keyboard.press("ArrowLeft");
  await expect(path).toHaveValue("/cities/oslo/a~1b/deep");
  await page.keyboard.press("ArrowLeft");
  await expect(tree.getByText("Aker")).toBeHidden();
  await expectAccessible(page, "a tree of a result");
  await page.getByRole("button", { name: "Copy the path" }).click();
  await expect(page.getByRole("button", { name: "Copy the path" })).toContainText("Copied");
});

test("a tree that arrives while the page of its run is open is searched", async ({ page }) => {
  const tool = uniqueSlug("late");
  const operator = api("operator");
  await operator.post("/api/tools", { slug: tool, name: "Late", kind: "worker", inputSchema: { type: "object", properties: {} } });
  await operator.post(`/api/tools/${tool}/publish`);
  await operator.post(`/api/tools/${tool}/run`, { input: {} });
  const worker = api("worker");
  const { session, attempt } = await worker.claim(`tool:${tool}`);
  await signIn(page, "admin");
  await page.goto(`/sessions/${session.id}`);
  await hydrated(page);
  await worker.complete(session.id, attempt, { cities: { oslo: { river: "Aker" }, bergen: { river: "none" } } });
  const search = page.getByRole("searchbox", { name: "Search in the result" });
  await expect(search).toHaveCount(1);
  await search.fill("aker");
  await expect(page.locator(".result-tools [role=status]")).toHaveText("1 part found");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("textbox", { name: "JSON Pointer of the part" })).toHaveValue("/cities/oslo/river");
});
