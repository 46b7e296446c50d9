/** Signing in and out, and what other people cannot see. */
import { api, expect, hydrated, signIn, environment, test } from "../support";
import { activeOf, awake, finder, idle, options, said, signInIdle } from "../working";

test("a wrong password keeps the address and says what is wrong @nojs", async ({ page }) => {
  await page.goto("/sign-in");
  await page.locator('input[name="email"]').fill("nobody@acme.localhost");
  await page.locator('input[name="password"]').fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText(/do not match/i);
  await expect(page.locator('input[name="email"]')).toHaveValue("nobody@acme.localhost");
  await expect(page.locator('input[name="password"]')).toHaveValue("");
});

test("signing in leads back to the page that was asked for, and signing out ends it @nojs", async ({ page }) => {
  await page.goto("/sessions?status=failed");
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  const { email, password } = environment().tenants.acme.people.member;
  await page.locator('input[name="email"]').fill(email);
  await page.locator('input[name="password"]').fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/sessions\?status=failed/);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/sign-in/);
  await page.goto("/today");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("another workspace's session looks like one that does not exist @nojs", async ({ page }) => {
  const action = await api().createAction({ name: "Private", agentSlug: "nobody" });
  const session = await api().trigger(action.id);
  await signIn(page, "admin", "other");
  const foreign = await page.goto(`/sessions/${session.id}`);
  const missing = await page.goto("/sessions/00000000-0000-7000-8000-000000000000");
  expect([foreign?.status(), missing?.status()]).toEqual([404, 404]);
});

test("a token is shown once, works, and stops when revoked @nojs", async ({ page }, info) => {
  const name = `made in the browser ${info.project.name}`;
  await signIn(page, "admin");
  await page.goto("/settings");
  const form = page.locator('form[action="/settings/tokens"]');
  if (!(await form.isVisible())) await page.locator("summary", { has: page.getByText(/token/i) }).first().click();
  await form.locator('input[name="name"]').fill(name);
  await form.locator('button[type="submit"]').click();
  const secret = (await page.locator("main").innerText()).match(/sbk_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}/)?.[0];
  expect(secret, "the page shows the new token").toBeTruthy();
  expect(await api(secret!).get("/api/me")).toMatchObject({ token: { name } });
  await expect(page).toHaveURL(/\/settings\?made=[\w-]+#new-token$/);
  await expect(page.locator("#new-token")).toBeFocused();
  await expect(page.locator("#new-token")).toBeInViewport();
  await page.reload();
  await expect(page.locator("main")).not.toContainText(secret!);
  await expect(page.locator(".table-main", { hasText: name })).toHaveCount(1);
  await page.goto("/settings");
  await expect(page.locator("main")).not.toContainText(secret!);
  await page.locator("tr, li", { hasText: name }).locator('form[action$="/revoke"] button').click();
  await expect(page.getByText(/Token revoked/)).toBeVisible();
  await expect(api(secret!).get("/api/me")).rejects.toThrow(/401/);
});

test("without a clipboard, Copy selects the token and says how to copy it", async ({ page }) => {
  // Browsers have none over plain HTTP, except on localhost.
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await signIn(page, "admin");
  await page.goto("/settings");
  const form = page.locator('form[action="/settings/tokens"]');
  if (!(await form.isVisible())) await page.locator("summary", { has: page.getByText(/token/i) }).first().click();
  await form.locator('input[name="name"]').fill("copied by hand");
  await form.locator('button[type="submit"]').click();
  const token = page.locator("#new-token .copy-line").first();
  await expect(token).toContainText("sbk_");
  await hydrated(page);
  const copy = token.getByRole("button", { name: "Copy the token" });
  await copy.click();
  await expect(copy).toContainText("Press Ctrl C");
  expect(await page.evaluate(() => getSelection()?.toString().trim())).toBe((await token.locator("pre").textContent())?.trim());
});

test("a member is not offered what only operators and admins may do @nojs", async ({ page }) => {
  await signIn(page, "member");
  await page.goto("/settings");
  for (const action of ["/settings/invitations", "/settings/webhooks", "/settings/groups"]) {
    await expect(page.locator(`form[action="${action}"]`)).toHaveCount(0);
  }
  // Their own tokens, with at most their own permissions.
  const offered = page.locator('form[action="/settings/tokens"] option');
  expect(await offered.evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value))).toEqual(["", "member"]);
  await page.goto("/actions");
  await expect(page.locator('form[method="post"][action="/actions"]')).toHaveCount(0);
});

test("a page that was opened before another sign-in changes nothing", async ({ page }, info) => {
  const email = `late-${info.project.name.replace(/\W+/g, "-")}-${Date.now().toString(36)}@acme.localhost`;
  await signIn(page, "admin");
  await page.goto("/settings");
  await page.getByText("Invite someone").click();
  const form = page.locator('form[action="/settings/invitations"]');
  await form.locator('input[name="email"]').fill(email);
  // Another tab of this browser signs in as someone else, in another workspace.
  await signIn(page, "admin", "other");
  const second = await page.context().newPage();
  await second.goto("/settings");
  await form.getByRole("button", { name: "Create invitation" }).click();
  await expect(page.getByRole("heading", { name: "The sign-in has changed" })).toBeVisible();
  await expect(page.locator("main")).toContainText("Nothing was changed.");
  await second.reload();
  await expect(second.locator("main")).not.toContainText(email);
  const reload = page.getByRole("link", { name: "Reload the page" });
  await expect(reload).toHaveAttribute("href", "/settings");
  await reload.click();
  await page.getByText("Invite someone").click();
  await form.locator('input[name="email"]').fill(email);
  await form.getByRole("button", { name: "Create invitation" }).click();
  await expect(page.getByRole("row", { name: new RegExp(email) })).toHaveCount(1);
});

test("a script of a page that was opened before another sign-in changes nothing", async ({ page }) => {
  const name = `Too late ${Date.now().toString(36)}`;
  await signInIdle(page, "operator");
  await awake(page, "/today");
  await signInIdle(page, "member");
  await idle(page).click();
  await finder(page).fill(name);
  await options(page).filter({ hasText: `Create new task “${name}”` }).click();
  await expect(said(page)).toContainText("Nothing was changed.");
  expect(await activeOf(page.context())).toBeNull();
});
