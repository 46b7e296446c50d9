/**
 * Questions in the inbox: answered by the controls of a form or of a schema, with the mouse, by keys alone and without
 * scripts.
 */
import { type Page } from "@playwright/test";
import { askQuestion, askWithForm, itemOf, unfoldQuestions, unique } from "../questions";
import { api, expect, expectAccessibleAsWide, hydrated, signIn, test } from "../support";

// Most tests wait until the answer has reached the agent, and do not look for the offer to undo.
test.use({ undoSeconds: 1 });

const TRIP = {
  type: "object",
  required: ["region", "days"],
  properties: {
    region: { type: "string", title: "Region", enum: ["emea", "apac"], enumNames: ["Europe", "Asia"] },
    days: { type: "integer", title: "Days", description: "Whole days, at most 30.", maximum: 30 },
    urgent: { type: "boolean", title: "Urgent" },
    from: { type: "string", format: "date", title: "From" },
    why: { type: "string", maxLength: 1000, title: "Why" },
  },
};

const field = (page: Page, name: string) => page.locator(`#gate-form [name="answer.${name}"]`);
const option = (page: Page, label: string) => page.locator("#gate-form").getByLabel(label, { exact: true });

test("a question with a schema is answered by a form made from it @nojs", async ({ page, javaScriptEnabled }) => {
  test.slow();
  const { agentSlug, session, item } = await askQuestion({ message: "Where to, and for how long?", schema: TRIP });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await expect(page.locator("#gate-title")).toContainText("Where to, and for how long?");
  await hydrated(page);
  await expect(page.locator("#gate-form")).toContainText("Whole days, at most 30.");
  await field(page, "region").selectOption({ label: "Asia" });
  await field(page, "days").fill("many");
  await field(page, "why").fill("The customer\nasked for it.");
  const answer = page.locator("#gate-form").getByRole("button", { name: "Answer" });
  // With scripts the next item is shown until the refusal arrives. The row of the refused one has the form that was sent.
  const refused = page.locator(`#inbox-rows [data-id="${item.id}"]`);
  const reopen = async (reason: string) => {
    if (javaScriptEnabled === false) return;
    await expect(refused).toContainText(reason);
    await refused.locator(".row-title").click();
  };
  await answer.click();
  await reopen("Enter a number");
  await expect(field(page, "days")).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator("#gate-form .field-error")).toContainText("Enter a number");
  await expect(field(page, "region")).toHaveValue("apac");

  // The schema itself is validated when the answer is recorded, and its error names the field too.
  await field(page, "days").fill("31");
  await answer.click();
  await reopen("30");
  await expect(page.locator("#gate-form .field-error")).toContainText("30");
  await field(page, "days").fill("3");
  await field(page, "urgent").selectOption("true");
  await answer.click();
  await api().untilStatus(session.id, "pending");
  const claim = (await api().claim(agentSlug)) as unknown as { resume: { answer: object } };
  expect(claim.resume.answer).toEqual({ region: "apac", days: 3, urgent: true, why: "The customer\nasked for it." });
});

test.describe("while an answer can be undone", () => {
  test.use({ undoSeconds: 60 });

  test("a question is said to be answered @nojs", async ({ page }) => {
    const schema = { type: "string", title: "Region" };
    const { session, item } = await askQuestion({ message: "Which region?", schema });
    await signIn(page, "reviewer");
    await page.goto(`/inbox/${item.id}`);
    await hydrated(page);
    await page.getByRole("textbox", { name: "Region" }).fill("12");
    await page.locator("#gate-form").getByRole("button", { name: "Answer" }).click();
    await expect(page.locator(".inbox-held")).toContainText("Answered");
    // Its notice would cover a part of the pages of the next tests.
    await api().post(`/api/sessions/${session.id}/cancel`);
  });
});

test("a request with fields is answered in place, in the order of its form @nojs", async ({ page, javaScriptEnabled }) => {
  test.slow();
  const { agentSlug, session } = await askWithForm({
    message: "Where do we start?",
    fields: [
      { key: "where", label: "Which region?", type: "single_choice", options: ["EU", "US"], required: true },
      { key: "seats", label: "How many seats?", type: "integer", minimum: 1 },
      { key: "colours", label: "Which colours?", type: "multiple_choice", options: ["Red", "Blue"] },
      { key: "about", label: "What else?", type: "long_text" },
    ],
  });
  const item = await itemOf(session.id);
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await expect(page.locator("#gate-title")).toContainText("Where do we start?");
  await hydrated(page);
  const names = await page.locator("#gate-form [name^='answer.']").evaluateAll((all) => all.map((one) => one.getAttribute("name")));
  expect([...new Set(names)]).toEqual(["answer.where", "answer.seats", "answer.colours", "answer.about"]);
  await option(page, "US").check();
  await field(page, "seats").fill("0");
  await option(page, "Red").check();
  await option(page, "Blue").check();
  await field(page, "about").fill("<b>bold</b>\n</answers>");
  const answer = page.locator("#gate-form").getByRole("button", { name: "Answer" });
  await answer.click();
  if (javaScriptEnabled !== false) {
    const refused = page.locator(`#inbox-rows [data-id="${item.id}"]`);
    await expect(refused).toContainText("at least 1");
    await refused.locator(".row-title").click();
  }
  await expect(page.locator("#gate-form .field-error")).toContainText("at least 1");
  await expect(field(page, "about")).toHaveValue("<b>bold</b>\n</answers>");
  for (const label of ["US", "Red", "Blue"]) await expect(option(page, label)).toBeChecked();
  await field(page, "seats").fill("3");
  await answer.click();
  await api().untilStatus(session.id, "pending");
  const claim = (await api().claim(agentSlug)) as unknown as { resume: { answer: object; outcome: string; block: string } };
  expect(claim.resume.answer).toEqual({ where: "US", seats: 3, colours: ["Red", "Blue"], about: "<b>bold</b>\n</answers>" });
  expect(claim.resume.outcome).toBe("answered");
  expect(claim.resume.block).toContain("a member of the workspace who had signed in");
  expect(claim.resume.block).toContain("  | &lt;b&gt;bold&lt;/b&gt;\n  | &lt;/answers&gt;\n");
});

test("a question of a form is asked only where it applies, and a record is chosen by its title @nojs", async ({ page, javaScriptEnabled }) => {
  test.slow();
  const companies = await api().post<{ id: string; slug: string }>("/api/entity-types", { name: unique("Customer") });
  const [alpha, beta] = [unique("Alpha"), unique("Beta")];
  await api().post("/api/entities", { typeId: companies.id, title: alpha });
  const chosen = await api().post<{ id: string }>("/api/entities", { typeId: companies.id, title: beta });
  const { agentSlug, session } = await askWithForm({
    message: "How was the call?",
    fields: [
      { key: "good", label: "Was it good?", type: "yes_no", required: true },
      { key: "why", label: "Why not?", type: "short_text", required: true, showIf: { field: "good", equals: false } },
      { key: "customer", label: "Which customer?", type: "entity", entityType: companies.slug },
    ],
  });
  const item = await itemOf(session.id);
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  if (javaScriptEnabled === false) {
    await expect(page.locator("#gate-form")).toContainText("Only if “Was it good?” is “No”.");
  } else {
    await hydrated(page);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await expectAccessibleAsWide(page);
    }
    await expect(field(page, "why")).toBeHidden();
    await option(page, "No").check();
    await expect(field(page, "why")).toBeVisible();
    await field(page, "why").fill("It was too long");
  }
  await option(page, "Yes").check();
  if (javaScriptEnabled !== false) await expect(field(page, "why")).toBeHidden();
  await field(page, "customer").selectOption({ label: beta });
  await page.locator("#gate-form").getByRole("button", { name: "Answer" }).click();
  await api().untilStatus(session.id, "pending");
  const claim = (await api().claim(agentSlug)) as unknown as { resume: { answer: object } };
  expect(claim.resume.answer).toEqual({ good: true, customer: chosen.id });
});

test("i leads into the answer, and Ctrl Enter sends it", async ({ page }) => {
  const { agentSlug, session, item } = await askQuestion({ message: "Which region?", schema: { type: "string", title: "Region" } });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await hydrated(page);
  await page.locator(`#inbox-rows [data-id="${item.id}"] .row-title`).focus();
  await page.keyboard.press("i");
  await expect(page.getByRole("textbox", { name: "Region" })).toBeFocused();
  await page.keyboard.type("12");
  await page.keyboard.press("ControlOrMeta+Enter");
  await api().untilStatus(session.id, "pending");
  const claim = (await api().claim(agentSlug)) as unknown as { resume: { answer: unknown } };
  expect(claim.resume.answer).toBe("12");
});

test("questions are answered one after the other by keys alone", async ({ page }) => {
  test.slow();
  const first = await askQuestion({ message: unique("Which region?"), schema: { type: "string", title: "Region" } });
  const second = await askQuestion({ message: unique("How many days?"), schema: TRIP });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${first.item.id}`);
  await hydrated(page);
  const [one, two] = [first, second].map(({ item }) => page.locator(`#inbox-rows [data-id="${item.id}"]`));
  const primary = page.locator('#gate [data-look="primary"]:visible');
  await expect(primary).toHaveText(["Answer"]);

  await page.keyboard.press("j");
  await expect(two!).toHaveAttribute("aria-current", "true");
  await expect(page.locator("#gate-title")).toContainText("How many days?");
  await page.keyboard.press("k");
  await expect(one!.locator(".row-title")).toBeFocused();
  await expect(page.locator("#gate-title")).toContainText("Which region?");
  await page.keyboard.press("i");
  await expect(page.getByRole("textbox", { name: "Region" })).toBeFocused();
  await page.keyboard.type("EMEA");
  await page.keyboard.press("Enter");

  // The selection has moved on to the next one.
  await expect(two!).toHaveAttribute("aria-current", "true");
  await expect(two!.locator(".row-title")).toBeFocused();
  await expect(primary).toHaveText(["Answer"]);
  await page.keyboard.press("i");
  await expect(field(page, "region")).toBeFocused();
  await page.keyboard.type("As");
  await page.keyboard.press("Tab");
  await expect(field(page, "days")).toBeFocused();
  await page.keyboard.type("4");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(two!).toHaveCount(0);
  for (const { agentSlug, session } of [first, second]) {
    await api().untilStatus(session.id, "pending");
    const claim = (await api().claim(agentSlug)) as unknown as { resume: { answer: unknown } };
    expect(claim.resume.answer).toEqual(session.id === first.session.id ? "EMEA" : { region: "apac", days: 4 });
  }
});

test("what is typed into a question stays through other pages, a reload and a new sign-in", async ({ page, context }) => {
  test.slow();
  const { agentSlug, session } = await askWithForm({
    message: unique("Where do we start?"),
    fields: [
      { key: "where", label: "Which region?", type: "single_choice", options: ["EU", "US"], required: true },
      { key: "why", label: "Why there?", type: "short_text", showIf: { field: "where", equals: "US" } },
      { key: "colours", label: "Which colours?", type: "multiple_choice", options: ["Red", "Blue"] },
      { key: "about", label: "What else?", type: "long_text" },
    ],
  });
  const item = await itemOf(session.id);
  const open = async () => {
    await page.goto(`/inbox/${item.id}`);
    await hydrated(page);
  };
  const expectTyped = async () => {
    await expect(field(page, "about")).toHaveValue("Half\nwritten");
    for (const label of ["US", "Blue"]) await expect(option(page, label)).toBeChecked();
    await expect(field(page, "why")).toBeVisible();
    await expect(field(page, "why")).toHaveValue("It is cheaper");
  };
  await signIn(page, "reviewer");
  await open();
  await option(page, "US").check();
  await expect(field(page, "why")).toBeVisible();
  await field(page, "why").fill("It is cheaper");
  await option(page, "Blue").check();
  await field(page, "about").fill("Half\nwritten");

  await page.goto("/today");
  await open();
  await expectTyped();
  await page.reload();
  await hydrated(page);
  await expectTyped();
  await context.clearCookies();
  await page.reload();
  await expect(page).toHaveURL(/\/sign-in/);
  await signIn(page, "reviewer");
  await open();
  await expectTyped();
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain("written");

  // Another person on the same tab finds nothing of it.
  await context.clearCookies();
  await signIn(page, "admin");
  await open();
  await expect(field(page, "about")).toHaveValue("");
  await context.clearCookies();
  await signIn(page, "reviewer");
  await open();
  await expectTyped();

  await page.locator("#gate-form").getByRole("button", { name: "Answer" }).click();
  await expect.poll(() => page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("written");
  await api().untilStatus(session.id, "pending");
  const claim = (await api().claim(agentSlug)) as unknown as { resume: { answer: object } };
  expect(claim.resume.answer).toEqual({ where: "US", why: "It is cheaper", colours: ["Blue"], about: "Half\nwritten" });
});

test("rows of an answer are added and removed by buttons, and what was typed stays @nojs", async ({ page }) => {
  test.slow();
  const stop = { type: "object", required: ["city"], properties: { city: { type: "string", title: "City" } } };
  const stops = { type: "array", title: "Stops", items: stop };
  const schema = { type: "object", properties: { about: { type: "string", title: "About" }, stops } };
  const { agentSlug, session, item } = await askQuestion({ message: "Where do we stop?", schema });
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await hydrated(page);
  await field(page, "about").fill("By train");
  const press = async (name: string, row: string) => {
    await page.locator("#gate-form").getByRole("button", { name }).click();
    await expect(field(page, row)).toBeVisible();
    await hydrated(page);
  };
  await press("Add a row Stops", "stops.0.city");
  await expect(field(page, "about")).toHaveValue("By train");
  await field(page, "stops.0.city").fill("Oslo");
  await press("Add a row Stops", "stops.1.city");
  await field(page, "stops.1.city").fill("Bergen");
  await press("Remove Stops 1", "stops.0.city");
  await expect(field(page, "stops.0.city")).toHaveValue("Bergen");
  await expect(field(page, "stops.1.city")).toHaveCount(0);
  await page.locator("#gate-form").getByRole("button", { name: "Answer", exact: true }).click();
  await api().untilStatus(session.id, "pending");
  const claim = (await api().claim(agentSlug)) as unknown as { resume: { answer: object } };
  expect(claim.resume.answer).toEqual({ about: "By train", stops: [{ city: "Bergen" }] });
});

/** A running session that asks and goes on. The deadline of the first question is the closest. */
const askAndGoOn = (message: string, minutes: number) =>
  askWithForm({
    message,
    blocking: false,
    expiresAt: new Date(Date.now() + minutes * 60_000).toISOString(),
    fields: [
      { key: "region", label: "Which region?", type: "single_choice", options: ["EU", "US"], required: true },
      { key: "why", label: "Why?", type: "short_text" },
    ],
  });

const answersOf = async (sessionId: string) => {
  const { items } = await api().get<{ items: { answers: object }[] }>(`/api/sessions/${sessionId}/answers`);
  return items.map(({ answers }) => answers);
};

test("a question of an agent that goes on is answered in place @nojs", async ({ page, javaScriptEnabled }) => {
  test.slow();
  const asked = await askAndGoOn(unique("Which offers?"), 30);
  await signIn(page, "reviewer");
  await page.goto("/today");
  const before = Number(await page.locator("#needs-me").getAttribute("data-figure"));
  expect(before).toBeGreaterThan(0);
  await unfoldQuestions(page);
  await page.locator(`a.row-title[href="/inbox/${asked.id}"]`).click();
  await expect(page).toHaveURL(new RegExp(`/inbox/${asked.id}$`));
  await expect(page.locator("#gate")).toContainText("The agent keeps working.");
  await expect(page.locator('#gate [data-look="primary"]:visible')).toHaveText(["Answer"]);
  await expect(page.locator("#inbox-rows [aria-current]")).toContainText("The agent keeps working");
  if (javaScriptEnabled !== false) {
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await expectAccessibleAsWide(page);
    }
  }
  await option(page, "US").check();
  const answer = page.locator("#gate-form .button[name=decision]");
  await answer.click();
  if (javaScriptEnabled !== false) {
    // An answer cannot be undone, so it takes a second press.
    await expect(answer).toHaveText("Press again: this cannot be undone");
    await answer.click();
  }
  await expect.poll(() => answersOf(asked.session.id)).toEqual([{ region: "US" }]);
  await expect(page.locator(`#inbox-rows [data-id="${asked.id}"]`)).toHaveCount(0);
  await page.goto("/today");
  const after = await page.locator("#needs-me").getAttribute("data-figure");
  expect(Number(after || 0)).toBeLessThan(before);
});

test("questions of agents that go on are answered one after the other by keys alone", async ({ page }) => {
  test.slow();
  const first = await askAndGoOn(unique("Which one?"), 10);
  const second = await askAndGoOn(unique("Which other?"), 11);
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${first.id}`);
  await hydrated(page);
  const [one, two] = [first, second].map(({ id }) => page.locator(`#inbox-rows [data-id="${id}"]`));
  await page.keyboard.press("j");
  await expect(two!).toHaveAttribute("aria-current", "true");
  await expect(page.locator("#gate-title")).toContainText("Which other?");
  await page.keyboard.press("k");
  await expect(page.locator("#gate-title")).toContainText("Which one?");
  await page.keyboard.press("i");
  await expect(option(page, "EU")).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(page.locator("#gate-form .button[name=decision]")).toHaveText(/Press again/);
  await page.keyboard.press("ControlOrMeta+Enter");
  await expect(one!).toHaveCount(0);
  await expect(two!.locator(".row-title")).toBeFocused();
  await page.keyboard.press("i");
  await expect(option(page, "EU")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  await page.keyboard.type("cheaper");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await expect(two!).toHaveCount(0);
  await expect.poll(() => answersOf(first.session.id)).toEqual([{ region: "EU" }]);
  await expect.poll(() => answersOf(second.session.id)).toEqual([{ region: "US", why: "cheaper" }]);
});
