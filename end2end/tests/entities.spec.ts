/** Entities: created, changed, imported and viewed, with and without scripts. */
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

interface Made {
  id: string;
  slug: string;
  version: number;
}

const LONG = "x".repeat(250);

/** Creates a type with one field of each kind, under a unique name. */
async function company(name: string): Promise<Made> {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return api().post<Made>("/api/entity-types", {
    name,
    slug,
    fields: [
      { slug: "stage", name: "Stage", type: "select", options: ["Lead", "Won"] },
      { slug: "size", name: "Size", type: "number" },
      { slug: "closes", name: "Closes", type: "date" },
      { slug: "note", name: "Note", type: "text" },
      { slug: "parent", name: "Parent", type: "relation", relationType: slug },
    ],
  });
}

const entity = (typeId: string, title: string, fields: Record<string, unknown> = {}) =>
  api().post<Made>("/api/entities", { typeId, title, fields });

async function open(page: Page, summary: string | RegExp) {
  const details = page.locator("details", { has: page.locator("summary", { hasText: summary }) });
  if (!(await details.evaluate((d) => (d as HTMLDetailsElement).open))) await details.locator("summary").first().click();
}

test("a type and an entity are made, changed and their history told by forms alone @nojs", async ({ page }, info) => {
  const name = `Made ${info.project.name}`;
  await signIn(page, "operator");
  await page.goto("/entities");
  await open(page, "New entity type");
  await page.locator('form[action="/entity-types"] input[name="name"]').fill(name);
  await page.getByRole("button", { name: "Create type" }).click();
  await expect(page.getByText("Entity type created.")).toBeVisible();
  await page.locator('input[name="fields[0].name"]').fill("Stage");
  await page.locator('select[name="fields[0].type"]').selectOption("select");
  // A select without options is refused; the typed text is restored with the reason.
  await page.getByRole("button", { name: "Save type" }).click();
  await expect(page.getByText(/a select has 1 to/)).toBeVisible();
  await expect(page.locator('input[name="fields[0].name"]')).toHaveValue("Stage");
  await page.locator('textarea[name="fields[0].options"]').fill("Lead\nWon");
  await page.getByRole("button", { name: "Save type" }).click();
  await expect(page.getByText("Changes saved.")).toBeVisible();

  await page.getByRole("link", { name: "All entities" }).click();
  await page.locator('form[action="/entities"][method="post"] input[name="title"]').fill("Acme");
  await page.locator('select[name="fields.stage"]').selectOption("Lead");
  await page.getByRole("button", { name: `Create ${name}` }).click();
  await expect(page.getByText("Entity created.")).toBeVisible();
  await expect(page.locator(".entity-fields")).toContainText("Lead");
  await open(page, "Edit");
  await page.locator('select[name="fields.stage"]').selectOption("Won");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByText("Saved as a new version.")).toBeVisible();
  const newest = page.locator(".history-item").first();
  await expect(newest).toContainText("Stage");
  await expect(newest.locator("del")).toHaveText("Lead");
  await expect(newest.locator("ins")).toHaveText("Won");
  await expect(newest).toContainText("operator@acme.localhost");
});

test("a change from an old page is refused, keeps what was typed, and can be saved again @nojs", async ({ page }, info) => {
  const of = await company(`Stale ${info.project.name}`);
  const made = await entity(of.id, "Acme");
  await signIn(page, "member");
  await page.goto(`/entities/${made.id}`);
  await open(page, "Edit");
  await api().send("PATCH", `/api/entities/${made.id}`, { version: 1, fields: { stage: "Won" } });
  await page.locator('input[name="fields.note"]').fill("typed meanwhile");
  await page.getByRole("button", { name: "Save changes" }).click();
  await expect(page.getByRole("alert")).toContainText("Someone else saved this in the meantime");
  await expect(page.locator('input[name="fields.note"]')).toHaveValue("typed meanwhile");
  await expect(page.locator(".entity-fields")).toContainText("Won");
});

test("a file is previewed, imported with a progress bar and reported row by row @nojs", async ({ page }, info) => {
  const of = await company(`Import ${info.project.name}`);
  const rows = Array.from({ length: 600 }, (_, n) => `Firm ${n};Lead;${n}`);
  const file = ["Account;Stage;Employees", ...rows, "Bad one;Nope;x"].join("\n");
  await signIn(page, "member");
  await page.goto(`/entity-types/${of.id}`);
  await page.getByRole("link", { name: "Import CSV" }).click();
  await page.locator('input[type="file"]').setInputFiles({ name: "firms.csv", mimeType: "text/csv", buffer: Buffer.from(file) });
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText("601 rows in the file: 600 can be imported, 1 cannot.")).toBeVisible();
  // The third column has no matching field, so the person selects one.
  await page.locator('select[name="map.2"]').selectOption("size");
  await page.getByRole("button", { name: "Check again" }).click();
  await expect(page.locator("table", { hasText: "a number" })).toContainText("602");
  await page.getByRole("button", { name: "Import 600 rows" }).click();
  await expect(page).toHaveURL(/\/imports\/[0-9a-f-]{36}/);
  // With scripts the page polls; without scripts it reloads.
  await expect(page.getByText("Rows with errors were left out")).toBeVisible({ timeout: 30_000 });
  await expect(page.locator("progress")).toHaveAttribute("value", "601");
  await expect(page.locator("main")).toContainText("one of: Lead, Won");
  const listed = await api().get<{ items: { fields: unknown }[] }>(`/api/entities?typeId=${of.id}&q=%22firm%20599%22`);
  expect(listed.items[0]?.fields).toEqual({ stage: "Lead", size: 599 });
  // Importing the same file again would create everything twice; the preview warns about it.
  await page.goto(`/entity-types/${of.id}/import`);
  await page.locator('input[type="file"]').setInputFiles({ name: "firms.csv", mimeType: "text/csv", buffer: Buffer.from(file) });
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText("Duplicate titles: 600 of those rows")).toBeVisible();
});

test("an entity shows the sessions about it and how its fields stand @nojs", async ({ page }, info) => {
  const of = await company(`Work ${info.project.name}`);
  const made = await entity(of.id, "Acme", { stage: "Lead" });
  const agent = `qualifier-${info.project.name}`;
  const action = await api().createAction({
    name: "Qualify",
    agentSlug: agent,
    targetEntityId: made.id,
    outputConfig: { fields: ["stage"], blocks: ["sessions"] },
  });
  const session = await api().trigger(action.id);
  const claim = await api().claim(agent);
  await api().post("/api/sessions", { sessionType: "tool", parentId: session.id });
  await signIn(page, "member");
  await page.goto(`/t/acme/${of.slug}/${made.id}`);
  await expect(page.locator(".entity-field", { hasText: "Stage" }).locator(".status-dot")).toHaveAttribute("data-block", "in-progress");
  await expect(page.locator("#sessions-title .status-dot")).toHaveAttribute("data-block", "in-progress");
  const row = page.locator("tr", { hasText: "Qualify" });
  await expect(row).toContainText("Running");
  await expect(row).toContainText("1 step");
  await api().complete(session.id, claim.attempt);
  await page.reload();
  await expect(page.locator(".entity-field", { hasText: "Stage" }).locator(".status-dot")).toHaveAttribute("data-block", "complete");
  await row.getByRole("link").click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${session.id}`));
  for (const wrong of [`/t/other/${of.slug}/${made.id}`, `/t/acme/nothing/${made.id}`]) {
    expect((await page.goto(wrong))?.status()).toBe(404);
  }
});

test("another workspace's entity looks like one that does not exist @nojs", async ({ page }, info) => {
  const of = await company(`Private ${info.project.name}`);
  const made = await entity(of.id, "Secret");
  await signIn(page, "admin", "other");
  const none = "00000000-0000-7000-8000-000000000000";
  for (const path of [`/entities/${made.id}`, `/entities/${none}`, `/entity-types/${of.id}`, `/entity-types/${of.id}/import`, `/imports/${none}`]) {
    expect((await page.goto(path))?.status(), path).toBe(404);
  }
});

test("entities are selected by key and erased once their number is typed", async ({ page }, info) => {
  const of = await company(`Erased ${info.project.name}`);
  for (const title of ["First", "Second", "Third"]) await entity(of.id, title);
  await signIn(page, "admin");
  await page.goto(`/entities?type=${of.slug}`);
  await hydrated(page);
  await page.getByRole("link", { name: "Third", exact: true }).focus();
  await page.keyboard.press("x");
  await expect(page.getByText("1 selected")).toBeVisible();
  await page.getByRole("link", { name: "Second", exact: true }).focus();
  await page.keyboard.press("X");
  await expect(page.getByText("2 selected")).toBeVisible();
  await page.getByRole("button", { name: "Erase selected…" }).click();
  await expect(page.getByText("2 entities will be erased.")).toBeVisible();
  await hydrated(page);
  await expectAccessible(page, "the question before entities are erased");
  await page.getByLabel("Type “2” to erase them").fill("2");
  await page.getByRole("button", { name: "Erase 2 entities" }).click();
  await expect(page.getByText("Erased. Who wrote the versions, and when, is kept.")).toBeVisible();
  await expect(page.locator("tbody tr")).toHaveCount(1);
});

test("g e leads to the entities", async ({ page }) => {
  await signIn(page, "member");
  await page.goto("/today");
  // Keys are heard once the scripts of the document run.
  await hydrated(page);
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page).toHaveURL(/\/entities$/);
});

test.describe("every page of entities", () => {
  let paths: [string, string][];
  test.beforeAll(async () => {
    const of = await company(`Looks ${Date.now()}`);
    const nothing = await api().post<Made>("/api/entity-types", { name: `Bare ${Date.now()}` });
    const note = `<script>window.pwned = 1</script> שלום 日本 🧪 ${LONG}`;
    const full = await entity(of.id, `Very <b>long</b> ${LONG}`, { stage: "Lead", size: 1.5, closes: "2026-12-01", note });
    await api().send("PATCH", `/api/entities/${full.id}`, { version: 1, title: `Other ${LONG}`, fields: { note: LONG, parent: full.id } });
    const bare = await entity(nothing.id, "Nothing");
    const response = await api().createAction({ name: `Task ${LONG.slice(0, 180)}`, agentSlug: "looks", targetEntityId: full.id });
    const session = await api().trigger(response.id);
    const claim = await api().claim("looks");
    await api().fail(session.id, claim.attempt, LONG);
    paths = [
      ["list", "/entities"],
      ["one type", `/entities?type=${of.slug}`],
      ["nothing found", "/entities?q=no-such-title"],
      ["full", `/entities/${full.id}`],
      ["bare", `/entities/${bare.id}`],
      ["type", `/entity-types/${of.id}`],
      ["bare type", `/entity-types/${nothing.id}`],
      ["import", `/entity-types/${of.id}/import`],
    ];
  });

  test("axe finds nothing in light and dark, nothing overflows at 1280 or 360 px, no script error", async ({ page }) => {
    test.slow();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await signIn(page, "admin");
    const check = async (name: string) => {
      await page.evaluate(() => {
        for (const details of document.querySelectorAll<HTMLDetailsElement>("main details")) details.open = true;
      });
      await expectAccessible(page, name);
    };
    for (const [name, path] of paths) {
      expect((await page.goto(path))?.status(), path).toBe(200);
      await expect(page.locator("h1").first()).toBeVisible();
      await check(name);
      expect(await page.evaluate(() => (window as { pwned?: number }).pwned), "stored script ran").toBeUndefined();
    }
    await page.locator('textarea[name="source"]').fill(`Account,Stage,Employees,Parent\n${LONG},Nope,x,y\nGood,Lead,,\n`);
    await page.getByRole("button", { name: "Preview" }).click();
    await expect(page.getByRole("button", { name: "Import 1 row" })).toBeVisible();
    await check("preview");
    await page.getByRole("button", { name: "Import 1 row" }).click();
    await expect(page.getByText("Rows with errors were left out")).toBeVisible();
    await check("imported");
    expect(errors).toEqual([]);
  });
});
