/** Tools: made in the editor, published, given a secret, compared, with and without scripts. */
import { expect, expectAccessible, signIn, test } from "../support";

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
