/** Forms (views): made, edited by keyboard, published, with and without scripts. */
import { api, expect, expectAccessible, signIn, test } from "../support";

test("a form is made with the buttons of the editor and published @nojs", async ({ page }, info) => {
  const of = info.project.name;
  await signIn(page, "operator");
  await page.goto("/views");
  await page.getByRole("link", { name: "New form" }).first().click();
  await page.locator('input[name="title"]').fill(`Weekly check ${of}`);
  await page.locator('input[name="fields[0].label"]').fill("How was your week?");
  await page.locator('select[name="fields[0].type"]').selectOption("scale");
  await page.getByRole("button", { name: "Add a question" }).click();
  await page.locator('input[name="fields[1].label"]').fill("Which team?");
  await page.locator('select[name="fields[1].type"]').selectOption("single_choice");
  await page.getByRole("button", { name: "Apply kind question 2" }).click();
  await page.locator('textarea[name="fields[1].options"]').fill("red\nblue | Blue team");
  const update = page.getByRole("button", { name: "Update preview" });
  if (info.project.use.javaScriptEnabled === false) await update.click();
  else await expect(update).toBeHidden();
  await expect(page.locator("#view-preview")).toContainText("Blue team");
  await page.getByRole("button", { name: "Move up question 2" }).click();
  await expect(page.locator('input[name="fields[0].label"]')).toHaveValue("Which team?");
  await page.getByRole("button", { name: "Create form" }).first().click();
  await expect(page.getByText("Form saved.")).toBeVisible();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Form published.")).toBeVisible();
  await expect(page.locator(".facts").first()).toContainText("Published");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Edit" }).click();
  await expect(page).toHaveURL(/\/edit$/);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Remove question 2" }).click();
  await expect(page.locator('input[name="fields[1].label"]')).toHaveCount(0);
  await page.getByRole("button", { name: "Save" }).first().click();
  await expect(page.locator(".facts").first()).toContainText("with unpublished changes");
});

test("what is typed before the scripts have come is in the preview", async ({ page }) => {
  await signIn(page, "operator");
  let send = () => {};
  const mayBeSent = new Promise<void>((resolve) => (send = resolve));
  await page.route(/\.wasm$/, async (route) => {
    await mayBeSent;
    await route.continue();
  });
  await page.goto("/views/new", { waitUntil: "commit" });
  await page.locator('input[name="title"]').fill("Typed early");
  send();
  await expect(page.locator("#view-preview")).toContainText("Typed early");
});

test("the editor is usable by keyboard alone", async ({ page }, info) => {
  const made = await api().post<{ slug: string }>("/api/views", {
    title: `Keys ${info.project.name}`,
    slug: `keys-${info.project.name}`,
    fields: [
      { key: "a", label: "First", type: "short_text" },
      { key: "b", label: "Second", type: "yes_no" },
    ],
  });
  await signIn(page, "operator");
  await page.goto(`/views/${made.slug}/edit`);
  await page.getByRole("button", { name: "Move down question 1" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.locator('input[name="fields[1].label"]')).toHaveValue("First");
  await page.getByRole("button", { name: "Save" }).first().focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Form saved.")).toBeVisible();
});
