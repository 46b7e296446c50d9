/** What operators see and do with a form: its responses, its links, and the preview beside its editor. */
import { type Page } from "@playwright/test";
import { api, expect, expectAccessibleAsWide, hydrated, pageLoaded, signIn, test } from "../support";

const WIDTHS = [360, 1280];

const FIELDS = [
  { key: "name", label: "Your name?", type: "short_text" },
  {
    key: "team",
    label: "Which team?",
    type: "single_choice",
    options: [
      { value: "r", label: "Red" },
      { value: "b", label: "Blue" },
    ],
  },
  { key: "tags", label: "Which topics?", type: "multiple_choice", options: ["speed", "price"] },
  { key: "mood", label: "How was it?", type: "scale", minimum: 1, maximum: 5, lowLabel: "bad" },
  { key: "again", label: "Again?", type: "yes_no" },
];

interface View {
  id: string;
  slug: string;
}

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

/** Ids of the date fields that are narrower than their text and button. */
const cutDates = (page: Page) =>
  page.locator("[type=date]").evaluateAll((all) => {
    const isCut = (input: HTMLElement) => {
      const given = input.getBoundingClientRect().width;
      input.style.inlineSize = "max-content";
      const needed = input.getBoundingClientRect().width;
      input.style.inlineSize = "";
      return needed > given;
    };
    return (all as HTMLElement[]).filter(isCut).map(({ id }) => id);
  });

async function published(config: object, fields: object[] = FIELDS): Promise<View> {
  const slug = `check-${crypto.randomUUID().slice(0, 8)}`;
  const view = await api().post<View>("/api/views", { title: "Weekly check", slug, fields, publishConfig: config });
  await api().post(`/api/views/${view.id}/publish`);
  return view;
}

async function submit(view: View, answers: object) {
  const body = { submissionId: crypto.randomUUID(), answers };
  await api().post(`/api/views/${view.id}/submit-interaction`, body);
}

for (const width of WIDTHS) {
  test(`responses are a table and charts at ${width} px @nojs`, async ({ page }) => {
    const view = await published({ responses: "many" });
    await signIn(page, "operator");
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`/views/${view.slug}/responses`);
    await expect(page.getByText("No one has answered this form yet.")).toBeVisible();
    expect(await cutDates(page)).toEqual([]);
    await expectAccessibleAsWide(page);

    const hostile = `<img src=x onerror=alert(1)> ${"long".repeat(80)} \u202eabc 🙂`;
    await submit(view, { name: hostile, team: "r", tags: ["speed", "price"], mood: 1, again: true });
    await submit(view, { name: "Ben", team: "r", mood: 4 });
    await submit(view, { name: "Cleo", team: "b", again: false });
    await page.goto("/views");
    await page.locator("tr", { hasText: "Weekly check" }).getByRole("link", { name: "3 responses" }).first().click();
    await expect(page).toHaveURL(/\/responses$/);
    await expect(page.getByText("3 responses submitted")).toBeVisible();

    const team = page.getByRole("region", { name: "Which team?" });
    await expect(team).toContainText("3 answers to this question. Most frequent: Red (67%).");
    await expect(team.getByRole("row", { name: /Blue 1 33%/ })).toBeVisible();
    await expect(team.locator("svg.chart")).toHaveCount(1);
    await expect(page.getByRole("region", { name: "How was it?" })).toContainText("Mean: 2.50.");
    await expect(page.getByRole("region", { name: "Which topics?" })).toContainText("1 answer to this question.");
    await expect(page.getByRole("region", { name: "Again?" }).getByRole("row")).toHaveCount(3);
    const rows = page.getByRole("region", { name: "Responses" }).locator("tbody tr");
    await expect(rows).toHaveCount(3);
    await expect(rows.last()).toContainText("<img src=x");
    expect(await fits(page)).toBe(true);
    await expectAccessibleAsWide(page);

    await page.getByLabel("Status").selectOption("abandoned");
    await page.getByRole("button", { name: "Filter" }).click();
    await expect(page.getByText("No response matches the filter.")).toBeVisible();
    await expectAccessibleAsWide(page);
    await page.getByRole("link", { name: "Clear the filter" }).click();
    await rows.first().getByRole("link").click();
    await expect(page).toHaveURL(/\/sessions\//);
  });

  test(`a link is made, shown once and revoked at ${width} px @nojs`, async ({ page }) => {
    const view = await published({ gate: "none", responses: "many", embedOrigins: ["https://a.example"] });
    await signIn(page, "operator");
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`/views/${view.slug}`);
    await expect(page.getByText("There are no links yet.")).toBeVisible();
    await page.getByLabel("Days that it works").fill("400");
    await page.getByLabel("Note").fill("Newsletter");
    await page.getByRole("button", { name: "Create link" }).click();
    await expect(page.locator("#link-days-error")).toContainText("1 to 366");
    await expect(page.getByLabel("Note")).toHaveValue("Newsletter");
    await page.getByLabel("Days that it works").fill("7");
    await page.getByRole("button", { name: "Create link" }).click();

    const address = page.locator("#new-link-url");
    await expect(address).toHaveValue(/\/f\/sbf_/);
    await expect(address).toBeFocused();
    await expect(page.locator("#new-link")).toContainText("<iframe");
    const url = await address.inputValue();
    expect(await fits(page)).toBe(true);
    await expectAccessibleAsWide(page);
    await page.reload();
    await expect(page.locator("#new-link")).toHaveCount(0);
    const list = page.getByRole("region", { name: "Links" }).locator("tbody tr");
    await expect(list).toHaveCount(1);
    await expect(list).toContainText("Newsletter");
    await expect(list).toContainText("never");

    const context = await page.context().browser()!.newContext();
    const stranger = await context.newPage();
    await stranger.goto(url);
    await expect(stranger.getByRole("heading", { name: "Weekly check" })).toBeVisible();
    await page.reload();
    await expect(list).toContainText("1 time");
    await page.getByRole("button", { name: /Revoke/ }).click();
    await expect(page.getByText("Link revoked.")).toBeVisible();
    await expect(list).toContainText("revoked");
    await expectAccessibleAsWide(page);
    expect((await stranger.goto(url))!.status()).toBe(404);
    await context.close();
  });
}

for (const width of WIDTHS) {
  test(`an entity is made from a response at ${width} px @nojs`, async ({ page }) => {
    const slug = `company-${crypto.randomUUID().slice(0, 8)}`;
    await api().post("/api/entity-types", { name: slug, slug });
    const view = await published({ responses: "many" });
    await submit(view, { team: "r" });
    await signIn(page, "operator");
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`/views/${view.slug}/responses`);
    await page.getByRole("region", { name: "Responses" }).locator("tbody").getByRole("link").click();
    await page.locator("summary", { hasText: "Create an entity" }).press("Enter");
    const form = page.getByRole("form", { name: "Create an entity" });
    await form.getByLabel("Created as").selectOption({ label: slug });
    expect(await fits(page)).toBe(true);
    await expectAccessibleAsWide(page);

    const create = form.getByRole("button", { name: "Create" });
    await create.press("Enter");
    await expect(page.locator("#promote-title-error")).toContainText("give a title");
    await expect(form.getByLabel("Created as").locator("option:checked")).toHaveText(slug);
    expect(await fits(page)).toBe(true);
    await expectAccessibleAsWide(page);
    await form.getByLabel("Title").fill("Acme");
    await create.click();
    await expect(page.getByText("What the response became")).toBeVisible();
    await expect(page.getByRole("link", { name: "Acme", exact: true })).toHaveAttribute("href", /^\/entities\//);
    await expect(form).toHaveCount(0);
  });
}

test("a rating is scored in the table", async ({ page }) => {
  const slug = `tone-${crypto.randomUUID().slice(0, 8)}`;
  await api().post("/api/criteria-sets", {
    name: "Tone",
    slug,
    dimensions: [
      {
        slug: "tone",
        name: "Tone",
        type: "select",
        options: ["warm", "cold"],
        optionStyles: { warm: { style: "positive", score: 1 }, cold: { style: "negative", score: 0.25 } },
      },
    ],
  });
  const view = await published({ responses: "many" }, [
    { key: "rate", label: "Rate it", type: "rating", criteriaSet: slug },
  ]);
  await submit(view, { rate: { tone: "cold" } });
  await signIn(page, "operator");
  await page.goto(`/views/${view.slug}/responses`);
  await expect(page.getByRole("region", { name: "Responses" }).locator("tbody tr")).toContainText("0.25");
  await expect(page.getByRole("region", { name: "Rate it: Tone" })).toContainText("Most frequent: cold (100%).");
  // The preview of the form has the controls of the form.
  await page.goto(`/views/${view.slug}`);
  await expect(page.locator(".view-preview").getByText("warm")).toBeVisible();
});

for (const width of WIDTHS) {
  test(`the preview follows what is typed, and the focus stays at ${width} px`, async ({ page }) => {
    await signIn(page, "operator");
    await page.setViewportSize({ width, height: 700 });
    await page.goto("/views/new");
    await pageLoaded(page);
    const preview = page.locator(".view-preview");
    const question = page.locator('input[name="fields[0].label"]');
    await page.locator('input[name="title"]').fill("Weekly check");
    await question.pressSequentially("How was <b>it</b>?");
    await expect(preview).toContainText("How was <b>it</b>?");
    await expect(preview).toContainText("Weekly check");
    await expect(question).toBeFocused();
    const before = await page.evaluate(() => window.scrollY);
    await page.locator('select[name="fields[0].type"]').selectOption("yes_no");
    await expect(preview.getByRole("radio")).toHaveCount(2);
    expect(await page.evaluate(() => window.scrollY)).toBe(before);
    await expect(page).toHaveURL(/\/views\/new$/);
    const list = await api().get<{ items: { title: string; slug: string }[] }>("/api/views?slug=weekly-check");
    expect(list.items).toHaveLength(0);
    await expectAccessibleAsWide(page);
  });
}

test("the preview has the controls of the form; without scripts a button updates it @nojs", async ({ page }, info) => {
  const scripts = info.project.name === "js";
  await signIn(page, "operator");
  await page.goto("/views/new");
  if (scripts) {
    await hydrated(page);
  }
  await page.locator('input[name="fields[0].label"]').fill("How was it?");
  await page.locator('select[name="fields[0].type"]').selectOption("yes_no");
  if (!scripts) {
    await page.getByRole("button", { name: "Update preview" }).click();
  }
  await expect(page.locator(".view-preview").getByRole("radio")).toHaveCount(2);
  await expect(page.locator(".view-preview").getByRole("radio").first()).toBeDisabled();
});
