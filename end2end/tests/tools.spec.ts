/** Tools: made in the editor, published, given a secret, compared, with and without scripts. */
import { slug } from "../questions";
import { api, expect, expectAccessible, signIn, test } from "../support";

const DEFINITION = `{
  "kind": "http",
  "http": {
    "method": "GET",
    "url": "https://example.org/{city}",
    "headers": { "authorization": "{secret:API_KEY}" }
  },
  "inputSchema": { "type": "object", "properties": { "city": { "type": "string" } } }
}`;

test("a tool is made, published, given a secret and compared @nojs", async ({ page }, info) => {
  const of = info.project.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  await signIn(page, "admin");
  await page.goto("/actions");
  await page.getByRole("link", { name: "Tools", exact: true }).click();
  await expect(page.locator("h1")).toHaveText("Tools");
  await expectAccessible(page, "the list");
  await page.goto("/tools/new");
  await page.locator('input[name="name"]').fill(`Weather ${of}`);
  await page.locator('input[name="slug"]').fill(`weather-${of}`);
  await page.locator('textarea[name="definition"]').fill(DEFINITION.replace("{city}\"", "{town}\""));
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.locator("#edit-definition-error")).toContainText("line 5, http.url");
  if (info.project.name === "js") await expect(page.locator('textarea[name="definition"]')).toBeFocused();
  await expectAccessible(page, "the editor with an error");
  await page.locator('textarea[name="definition"]').fill(DEFINITION);
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("Tool saved.")).toBeVisible();
  await expect(page.getByText("secrets that are not set: API_KEY")).toBeVisible();
  await page.getByText("Set a secret", { exact: true }).click();
  await expect(page.locator('input[name="name"]:visible')).toHaveValue("API_KEY");
  await page.locator('input[name="password"]').fill("hunter2");
  await page.getByRole("button", { name: "Set secret" }).click();
  await expect(page.getByText("Secret set.")).toBeVisible();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Tool published.")).toBeVisible();
  await page.getByRole("link", { name: "What version 1 changed" }).click();
  await expect(page.getByRole("heading", { name: "What version 1 changed" })).toBeVisible();
  await expectAccessible(page, "the page of a tool");
  await page.getByRole("link", { name: "Edit" }).click();
  await expect(page).toHaveURL(/\/edit$/);
  await expectAccessible(page, "the editor");
  await page.locator('textarea[name="definition"]').fill(DEFINITION.replace("GET", "POST"));
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.locator(".facts").first()).toContainText("1, with unpublished changes");
});

const ORDER = `{
  "kind": "worker",
  "inputSchema": {
    "type": "object",
    "required": ["name", "pay"],
    "properties": {
      "name": { "type": "string" },
      "lines": { "type": "array", "items": { "type": "object", "required": ["article"], "properties": { "article": { "type": "string" } } } },
      "pay": {
        "oneOf": [
          { "type": "object", "required": ["kind", "card"], "properties": { "kind": { "const": "card" }, "card": { "type": "string" } } },
          { "type": "object", "required": ["kind", "iban"], "properties": { "kind": { "const": "bank" }, "iban": { "type": "string" } } }
        ]
      }
    }
  }
}`;

test("rows and variants of an input are changed by buttons @nojs", async ({ page }, info) => {
  const slug = `order-${info.project.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  await signIn(page, "admin");
  await page.goto("/tools/new");
  await page.locator('input[name="name"]').fill("Order");
  await page.locator('input[name="slug"]').fill(slug);
  await page.locator('textarea[name="definition"]').fill(ORDER);
  await page.getByRole("button", { name: "Create tool" }).click();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Tool published.")).toBeVisible();
  await page.locator('input[name="input.name"]').fill("Ada");
  const add = page.getByRole("button", { name: "Add a row Lines" });
  for (const [at, article] of ["pen", "ink"].entries()) {
    await add.click();
    await page.locator(`input[name="input.lines.${at}.article"]`).fill(article);
  }
  await page.getByRole("button", { name: "Move up Lines 2" }).click();
  await expect(page.locator('input[name="input.lines.0.article"]')).toHaveValue("ink");
  await expect(page.locator('input[name="input.name"]')).toHaveValue("Ada");
  await page.locator('select[name="input.pay.~variant"]').selectOption({ label: "bank" });
  await page.getByRole("button", { name: "Show its fields Pay" }).click();
  await page.locator('input[name="input.pay.iban"]').fill("NO1");
  await expectAccessible(page, "the form of an input");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page).toHaveURL(/\/sessions\//);
  await page.goto(`/tools/${slug}`);
  await page.getByRole("link", { name: "Run again" }).first().click();
  await expect(page.locator('input[name="input.lines.1.article"]')).toHaveValue("pen");
  await expect(page.locator('input[name="input.pay.iban"]')).toHaveValue("NO1");
});

test("a result is saved and written to an entity @nojs", async ({ page }) => {
  const [tool, company] = [slug("look-up"), slug("company")];
  const operator = api("operator");
  await operator.post("/api/tools", { slug: tool, name: "Look up", kind: "worker", inputSchema: { type: "object" } });
  await operator.post(`/api/tools/${tool}/publish`);
  const fields = [{ slug: "stage", name: "Stage", type: "text" }];
  await operator.post("/api/entity-types", { name: "Company", slug: company, fields });
  const task = `Create ${company}`;
  await operator.post("/api/actions", { name: task, outputType: "entity", outputConfig: { entityType: company } });
  await operator.post(`/api/tools/${tool}/run`, { input: {} });
  const worker = api("worker");
  const claimed = await worker.claim(`tool:${tool}`);
  const result = { name: `Acme ${company}`, body: { stage: "Won" }, rows: [{ n: 1 }, { n: 2 }] };
  await worker.complete(claimed.session.id, claimed.attempt, result);
  await signIn(page, "admin");
  await page.goto(`/sessions/${claimed.session.id}`);
  const address = await page.getByRole("link", { name: "Save the result as JSON" }).getAttribute("href");
  const saved = await page.request.get(address!);
  expect(saved.headers()["content-disposition"]).toContain("attachment");
  expect(await saved.json()).toEqual(result);
  await page.getByRole("link", { name: "Write to an entity" }).click();
  await expect(page.locator("h1")).toHaveText("Write to an entity");
  await page.getByLabel("Task", { exact: true }).selectOption({ label: task });
  await page.getByRole("button", { name: "Show its fields" }).click();
  await expect(page.getByLabel("Title", { exact: true })).toHaveValue("/name");
  await expect(page.getByLabel("Stage", { exact: true })).toHaveValue("/body/stage");
  await page.getByLabel("Stage", { exact: true }).fill("/nowhere");
  await page.getByRole("button", { name: "Write", exact: true }).click();
  await expect(page.getByText("nothing at this JSON Pointer")).toBeVisible();
  await expectAccessible(page, "what is written to an entity");
  await page.getByLabel("Stage", { exact: true }).fill("/body/stage");
  await page.getByRole("button", { name: "Write", exact: true }).click();
  await expect(page.locator("h1")).toHaveText(task);
  await page.goto("/entities");
  await expect(page.getByRole("link", { name: `Acme ${company}` })).toBeVisible();
});
