/** Inviting people to a workspace, and removing them. */
import { expect, signIn, environment, test } from "../support";

test("an invited person joins by the link, once, and is removed again @nojs", async ({ page, browser }, info) => {
  const email = `eve-${info.project.name.replace(/\W+/g, "-")}-${Date.now().toString(36)}@acme.localhost`;
  await signIn(page, "admin");
  await page.goto("/settings");
  await page.getByText("Invite someone").click();
  const form = page.locator('form[action="/settings/invitations"]');
  await form.locator('input[name="email"]').fill(email);
  await form.getByRole("button", { name: "Create invitation" }).click();
  const link = (await page.locator(".secret").innerText()).match(/https?:\S+\/link\/sbl_\w+/)?.[0];
  expect(link, "the page shows the link").toBeTruthy();
  await expect(page).toHaveURL(/\/settings\?made=[\w-]+#new-link$/);
  await expect(page.locator(".secret")).toBeFocused();
  await page.reload();
  await expect(page.locator(".secret")).toHaveCount(0);
  await expect(page.getByRole("row", { name: new RegExp(email) })).toHaveCount(1);
  await expect(page.getByRole("row", { name: new RegExp(email) })).toContainText("until");

  const otherContext = await browser.newContext({ baseURL: environment().url, javaScriptEnabled: info.project.use.javaScriptEnabled });
  const eve = await otherContext.newPage();
  await eve.goto(link!);
  await expect(eve).toHaveURL(/\/link$/);
  await eve.locator('input[name="name"]').fill("Eve");
  await eve.locator('input[name="password"]').fill("short");
  await eve.getByRole("button", { name: "Join" }).click();
  await expect(eve.locator(".field-error")).toBeVisible();
  await eve.locator('input[name="password"]').fill("long enough to keep");
  await eve.getByRole("button", { name: "Join" }).click();
  await expect(eve).toHaveURL(/\/today/);
  await expect(eve.getByText("You are a member of this workspace now.")).toBeVisible();
  const late = await otherContext.newPage();
  await late.goto(link!);
  await expect(late.getByRole("heading", { name: "This link does not work" })).toBeVisible();

  await page.goto("/settings");
  await page.getByRole("link", { name: "Manage Eve" }).first().click();
  await page.getByRole("button", { name: "Remove from the workspace" }).click();
  await expect(page.getByText("What they did is kept in the log.")).toBeVisible();
  await eve.goto("/today");
  await expect(eve).toHaveURL(/\/sign-in/);
  await otherContext.close();

  await page.goto("/settings");
  await page.getByRole("link", { name: "Audit list" }).click();
  await page.getByLabel("What", { exact: true }).selectOption("Member removed");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(page).toHaveURL(/kind=member\.removed/);
  await expect(page.getByRole("row").nth(1)).toContainText("removed Eve from the workspace");
});
