/** Criteria sets, groups, bundles and approval settings: created and changed with forms, with and without scripts. */
import { readFileSync } from "node:fs";
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, ROOT, signIn, test } from "../support";

interface Made {
  id: string;
  slug: string;
  version: number;
}

const OUTCOMES = "pass | Nothing found | positive | 1\nreview |  | caution | 0.5\nfail | Names a patient | negative | 0 | hard block";

const criteriaSet = (name: string, slug: string) =>
  api().post<Made>("/api/criteria-sets", {
    name,
    slug,
    dimensions: [
      {
        slug: "phi_safety",
        name: "No health data",
        type: "select",
        options: ["pass", "fail"],
        optionStyles: { pass: { score: 1 }, fail: { style: "negative", hardBlock: true } },
      },
      { slug: "tone", name: "Tone", type: "scale", min: 1, max: 5 },
    ],
  });

async function open(page: Page, summary: string) {
  const own = page.locator("summary", { hasText: summary }).first();
  if (!(await own.evaluate((s) => (s.parentElement as HTMLDetailsElement).open))) await own.click();
}

test("a criteria set is made, previewed, changed and every version stays @nojs", async ({ page }, info) => {
  await signIn(page, "operator");
  await page.goto("/criteria-sets");
  await page.getByRole("link", { name: "New criteria set" }).first().click();
  await page.locator('input[name="name"]').fill(`Brand safety ${info.project.name}`);
  await page.locator('input[name="dimensions[0].name"]').fill("No health data");
  await page.locator('textarea[name="dimensions[0].options"]').fill("pass | x | red");
  await page.getByRole("button", { name: "Create criteria set" }).click();
  await expect(page.getByText("line 1: the style must be neutral, positive, caution or negative")).toBeVisible();
  await expect(page.locator('input[name="dimensions[0].name"]')).toHaveValue("No health data");

  // A preview evaluates what is typed and saves nothing.
  await page.locator('textarea[name="dimensions[0].options"]').fill(OUTCOMES);
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.locator("#verdict")).toContainText("Blocked by No health data");
  await expect(page.locator("#verdict")).toContainText("has no value");
  await page.locator('select[name="try.no-health-data"]').selectOption("review");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.locator("#verdict")).toContainText("Passes");
  await expect(page.locator("#verdict")).toContainText("Score: 0.50");
  await expect(page.locator("#verdict")).toContainText("Flags: no-health-data: review");
  await page.getByRole("button", { name: "Create criteria set" }).click();
  await expect(page.getByText("Criteria set created.")).toBeVisible();
  await expect(page.locator(".criteria-options")).toContainText("hard block");

  await open(page, "Edit");
  await page.locator('input[name="dimensions[1].name"]').fill("Tone");
  await page.locator('select[name="dimensions[1].type"]').selectOption("scale");
  await page.locator('input[name="dimensions[1].min"]').fill("1");
  await page.getByRole("button", { name: "Save new version" }).click();
  await expect(page.getByText("a scale needs both ends")).toBeVisible();
  await page.locator('input[name="dimensions[1].max"]').fill("5");
  await page.getByRole("button", { name: "Save new version" }).click();
  await expect(page.getByText("Saved as a new version.")).toBeVisible();
  await expect(page.locator(".facts")).toContainText("2");
  await page.getByRole("link", { name: "Version 1" }).click();
  await expect(page.getByText("This is version 1 of 2.")).toBeVisible();
  await expect(page.getByRole("cell", { name: "Tone", exact: true })).toHaveCount(0);
  await page.locator('select[name="try.no-health-data"]').selectOption("fail");
  await page.getByRole("button", { name: "Evaluate" }).click();
  await expect(page.locator("#verdict")).toContainText("which is a hard block");
  await expect(page.getByText("This is version 1 of 2.")).toBeVisible();
});

test("a change from an old page is refused and keeps what was typed @nojs", async ({ page }, info) => {
  const set = await criteriaSet(`Stale ${info.project.name}`, `stale-${info.project.name}`);
  await signIn(page, "operator");
  await page.goto(`/criteria-sets/${set.id}`);
  await open(page, "Edit");
  await api().send("PATCH", `/api/criteria-sets/${set.id}`, { version: 1, description: "Meanwhile" });
  await page.locator('input[name="name"]').fill("Typed meanwhile");
  await page.getByRole("button", { name: "Save new version" }).click();
  await expect(page.getByRole("alert")).toContainText("Someone else saved this in the meantime");
  await expect(page.locator('input[name="name"]')).toHaveValue("Typed meanwhile");
});

test("people come to a group and go @nojs", async ({ page }, info) => {
  const name = `Compliance ${info.project.name}`;
  await signIn(page, "operator");
  await page.goto("/settings");
  await open(page, "New group");
  await page.locator('form[action="/settings/groups"] input[name="name"]').fill(name);
  await page.getByRole("button", { name: "Create group" }).click();
  await expect(page.getByText("Group created.")).toBeVisible();
  const row = page.locator("#groups tr", { hasText: name });
  await expect(row).toContainText("No members yet");
  await row.getByLabel(`Add to ${name}`).selectOption({ label: "member@acme.localhost" });
  await row.getByRole("button", { name: "Add" }).click();
  await expect(row.locator(".group-members")).toContainText("member@acme.localhost");
  await row.getByRole("button", { name: /Remove member@acme.localhost/ }).click();
  await expect(row).toContainText("No members yet");
});

test("an admin says for how long decisions can be undone @nojs", async ({ page }) => {
  await signIn(page, "admin");
  await page.goto("/settings");
  const form = page.locator('form[action="/settings/approvals"]');
  await form.locator('input[name="undoSeconds"]').fill("61");
  await form.getByRole("button", { name: "Save approvals" }).click();
  await expect(form.locator(".field-error")).toContainText("0 to 60");
  await form.locator('input[name="undoSeconds"]').fill("7");
  await form.getByRole("button", { name: "Save approvals" }).click();
  await expect(page.getByText("Approvals saved.")).toBeVisible();
  await expect(page.getByText("Decisions take effect after 7 s")).toBeVisible();
  // Restores the value that other specs expect.
  await form.locator('input[name="undoSeconds"]').fill("5");
  await form.getByRole("button", { name: "Save approvals" }).click();
  await expect(page.getByText("Decisions take effect after 5 s")).toBeVisible();
});

test("an action gets approval settings that are kept and corrected by its form @nojs", async ({ page }, info) => {
  const of = info.project.name;
  const set = await criteriaSet(`Approval ${of}`, `approval-${of}`);
  const group = await api().post<Made>("/api/groups", { name: `Legal ${of}` });
  const action = await api().createAction({ name: `Reviewed ${of}`, metadata: { owner: "sales" } } as { name: string });
  await signIn(page, "operator");
  await page.goto(`/actions/${action.id}`);
  // The form is folded if the page has other content.
  const fold = page.locator("details", { has: page.locator('form[method="post"] input[name="name"]') }).first();
  if ((await fold.count()) && !(await fold.evaluate((d) => (d as HTMLDetailsElement).open))) await fold.locator("summary").first().click();
  await open(page, "Approval");
  await page.locator('input[name="requiresApproval"]').check();
  await page.locator('textarea[name="reviewers"]').fill(`member@acme.localhost\ngroup:${group.slug}\nnobody@acme.localhost`);
  await page.locator('input[name="expiresAfter"]').fill("soon");
  await page.locator('input[name="quorum"]').fill("2");
  await page.locator('input[name="selfApproval"]').uncheck();
  await page.locator('select[name="criteriaSet"]').selectOption({ label: `Approval ${of}` });
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("line 3: no one in this workspace is `nobody@acme.localhost`")).toBeVisible();
  await expect(page.getByText("a span such as 2d, 36h or 1h 30m")).toBeVisible();
  await page.locator('textarea[name="reviewers"]').fill(`member@acme.localhost\ngroup:${group.slug}`);
  await page.locator('input[name="expiresAfter"]').fill("2d");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Changes saved.")).toBeVisible();

  const saved = await api().get<{ metadata: Record<string, unknown>; outputConfig: Record<string, unknown> }>(`/api/actions/${action.id}`);
  expect(saved.metadata).toMatchObject({
    owner: "sales",
    requiresApproval: true,
    approval: { quorum: 2, selfApproval: false, expiresAfterSeconds: 172800 },
  });
  expect((saved.metadata.approval as { reviewers: string[] }).reviewers[1]).toBe(`group:${group.slug}`);
  expect(saved.outputConfig).toEqual({ criteria_set_ids: [set.id] });
  // The form shows what is stored, and people by their e-mail addresses.
  await page.reload();
  await expect(page.locator('textarea[name="reviewers"]')).toHaveValue(`member@acme.localhost\ngroup:${group.slug}`);
  await expect(page.locator('input[name="expiresAfter"]')).toHaveValue("2d");
});

test("a bundle is previewed, installed, and the second time there is nothing to do @nojs", async ({ page }, info) => {
  // No other test of this file uses these names.
  const of = `bundle-${info.project.name}`;
  const example = readFileSync(`${ROOT}/examples/bundle.yaml`, "utf8");
  const bundle = example.replaceAll(/slug: ([a-z-]+)$/gm, `slug: $1-${of}`).replaceAll("[outreach-safety]", `[outreach-safety-${of}]`).replace("entityType: company", `entityType: company-${of}`);
  await signIn(page, "operator");
  await page.goto("/bundles");
  await page.locator('textarea[name="source"]').fill("groups: [{ slug: a }]");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByRole("alert")).toContainText("groups[0]: missing field `name`");
  const file = { name: "bundle.yaml", mimeType: "application/yaml", buffer: Buffer.from(bundle.replace("group:compliance", `group:compliance-${of}`)) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText("4 to create, 0 to change, 0 unchanged.")).toBeVisible();
  const before = await api().get<{ items: { slug: string }[] }>("/api/criteria-sets");
  expect(before.items.map((set) => set.slug)).not.toContain(`outreach-safety-${of}`);
  await page.getByRole("button", { name: "Install 4 items" }).click();
  await expect(page.getByText("Installed: 4 created, 0 changed, 0 unchanged.")).toBeVisible();
  await page.getByRole("link", { name: "Another bundle" }).click();
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText("Nothing to install: the workspace already matches the bundle.")).toBeVisible();
});

test("who may not change criteria sets reads and tries them @nojs", async ({ page }, info) => {
  const set = await criteriaSet(`Read ${info.project.name}`, `read-${info.project.name}`);
  await signIn(page, "member");
  await page.goto("/criteria-sets");
  await expect(page.getByRole("link", { name: "New criteria set" })).toHaveCount(0);
  await page.goto(`/criteria-sets/${set.id}`);
  await expect(page.getByText("Save new version")).toHaveCount(0);
  await page.locator('select[name="try.phi_safety"]').selectOption("pass");
  await page.getByRole("button", { name: "Evaluate" }).click();
  await expect(page.locator("#verdict")).toContainText("Score: 1.00");
});

test("the pages hold up to axe", async ({ page }) => {
  test.slow();
  const set = await criteriaSet("Axe", "axe");
  await signIn(page, "operator");
  for (const path of ["/criteria-sets", "/criteria-sets/new", `/criteria-sets/${set.id}`, "/bundles", "/settings", "/actions"]) {
    expect((await page.goto(path))?.status(), path).toBe(200);
    await page.locator("main details").evaluateAll((all) => all.forEach((details) => ((details as HTMLDetailsElement).open = true)));
    await expectAccessible(page, path);
  }
});
