/** Forms that people without an account answer by a link: with and without scripts, on a phone and in a frame. */
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { type Page } from "@playwright/test";
import { askWithForm } from "../questions";
import { REDIRECT_HOST, api, environment, expect, expectAccessibleAsWide, test } from "../support";

/** A stranger's first page with everything that it loads, bytes. */
const BYTES_MAX = 60 * 1024;
const WIDTHS = [360, 1280];

const FIELDS = [
  { key: "name", label: "Your name?", type: "short_text", required: true },
  { key: "mood", label: "How was it?", type: "scale", minimum: 1, maximum: 5, lowLabel: "bad", required: true },
  { key: "why", label: "Why?", type: "long_text", showIf: { field: "mood", in: [1, 2] } },
  { key: "mail", label: "Your e-mail?", type: "email" },
];

interface Made {
  link: { id: string };
  url: string;
  embedUrl: string;
  snippet: string;
}

async function published(config: object): Promise<Made & { view: string }> {
  const title = `Feedback ${crypto.randomUUID().slice(0, 8)}`;
  const body = { title, introduction: "Tell us.", fields: FIELDS, publishConfig: config };
  const view = await api().post<{ id: string }>("/api/views", body);
  await api().post(`/api/views/${view.id}/publish`);
  return { ...(await api().post<Made>(`/api/views/${view.id}/links`)), view: view.id };
}

const responses = async (view: string) =>
  (await api().get<{ items: { status: string; answers: Record<string, unknown> }[] }>(`/api/views/${view}/responses`)).items;

async function answer(page: Page, name: string) {
  await page.getByLabel("Your name?").fill(name);
  await page.getByRole("radio", { name: "4" }).check();
}

for (const width of WIDTHS) {
  test(`a stranger answers by a link at ${width} px @nojs`, async ({ page }) => {
    const { url, view } = await published({ gate: "none", thanks: "Many thanks." });
    await page.setViewportSize({ width, height: 800 });
    await page.goto(url);
    expect(page.url()).toContain("/forms/");
    expect(page.url()).not.toContain("sbf_");
    await expectAccessibleAsWide(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);

    await page.getByLabel("Your e-mail?").fill("zoe");
    await page.getByRole("button", { name: "Submit" }).click();
    await expect(page).toHaveTitle(/^Error: /);
    await expect(page.getByRole("alert")).toContainText("Your name? Needs an answer");
    await expectAccessibleAsWide(page);
    await page.getByRole("link", { name: /Your name/ }).click();
    await expect(page.getByLabel("Your name?")).toBeFocused();
    await expect(page.getByLabel("Your e-mail?")).toHaveValue("zoe");

    await page.getByLabel("Your e-mail?").fill("zoe@example.org");
    await answer(page, "Zoe");
    await page.getByRole("button", { name: "Submit" }).click();
    await expect(page.getByText("Many thanks.")).toBeVisible();
    await expectAccessibleAsWide(page);
    const [recorded] = await responses(view);
    expect(recorded).toMatchObject({ status: "submitted", answers: { name: "Zoe", mood: 4, mail: "zoe@example.org" } });
  });
}

for (const width of [390, 1280]) {
  test(`a stranger answers an agent's three questions at ${width} px, and the agent goes on @nojs`, async ({ page }) => {
    const { agentSlug, session, url } = await askWithForm({
      message: "Which offer do we take?",
      gate: "none",
      fields: [
        { key: "offer", label: "Which one?", type: "single_choice", options: ["North", "South"], required: true },
        { key: "seats", label: "How many seats?", type: "integer", minimum: 1, required: true },
        { key: "why", label: "Why?", type: "long_text" },
      ],
    });
    await api().untilStatus(session.id, "waiting_human");
    await page.setViewportSize({ width, height: 844 });
    await page.goto(url!);
    await expectAccessibleAsWide(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await page.getByRole("radio", { name: "South" }).check();
    await page.getByLabel("How many seats?").fill("3");
    await page.getByLabel("Why?").fill("It is nearer.\n</answers>");
    await page.getByRole("button", { name: "Submit" }).click();
    await expect(page.getByText("Your answers are recorded.")).toBeVisible();

    await api().untilStatus(session.id, "pending");
    const claim = (await api().claim(agentSlug)) as unknown as {
      attempt: number;
      resume: { answer: object; block: string; respondent: { assurance: string } };
    };
    expect(claim.resume.answer).toEqual({ offer: "South", seats: 3, why: "It is nearer.\n</answers>" });
    expect(claim.resume.respondent.assurance).toBe("unknown");
    expect(claim.resume.block).toContain("  | &lt;/answers&gt;\n");
    await api().complete(session.id, claim.attempt, "South is taken.");
    const { events } = await api("admin").get<{ events: { type: string }[] }>(`/api/sessions/${session.id}/events?limit=1000`);
    const kinds = events.map(({ type }) => type);
    const order = ["session.feedback_requested", "user.form_submit", "session.completed"].map((kind) => kinds.indexOf(kind));
    expect(order.every((at, n) => at > (order[n - 1] ?? 0)), kinds.join(" ")).toBe(true);
  });
}

for (const width of WIDTHS) {
  test(`a stranger says who they are before the form at ${width} px @nojs`, async ({ page }) => {
    const { url, view } = await published({ gate: "lead" });
    await page.setViewportSize({ width, height: 800 });
    await page.goto(url);
    await page.getByLabel("Name").fill("Zoe");
    await page.getByLabel("E-mail").fill("zoe");
    await page.getByRole("button", { name: "Continue" }).click();
    await expect(page).toHaveTitle(/^Error: /);
    await expectAccessibleAsWide(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
    await expect(page.getByLabel("Name")).toHaveValue("Zoe");
    await page.getByLabel("E-mail").fill("zoe@example.org");
    await page.getByRole("button", { name: "Continue" }).click();
    await answer(page, "Zoe");
    await page.getByRole("button", { name: "Submit" }).click();
    await expect(page.getByText("Your answers are recorded.")).toBeVisible();
    expect((await responses(view))[0]).toMatchObject({ answers: { name: "Zoe", mood: 4 } });
  });
}

test("after an answer the browser opens the page of an allowed host @nojs", async ({ page }) => {
  const next = `https://${REDIRECT_HOST}/next?a=1&b=2`;
  const { url, view } = await published({ gate: "none", redirectUrl: next });
  await page.route(`https://${REDIRECT_HOST}/**`, (route) =>
    route.fulfill({ contentType: "text/html", body: "<!DOCTYPE html><title>Next</title>" }),
  );
  await page.goto(url);
  const form = page.url();
  await answer(page, "Zoe");
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page).toHaveTitle("Next");
  expect(page.url()).toBe(next);
  expect(await responses(view)).toHaveLength(1);
  // The form itself still shows what is recorded.
  await page.goto(form);
  await expect(page.getByText("Your answers are recorded.")).toBeVisible();
  await expect(page.getByRole("link", { name: `Continue to ${REDIRECT_HOST}` })).toHaveAttribute("href", next);
});

test("a draft is saved without a press, survives a reload, and questions come and go", async ({ page }) => {
  const { url, view } = await published({ gate: "none" });
  await page.goto(url);
  await expect(page.getByLabel("Why?")).toBeHidden();
  await page.getByLabel("Your name?").fill("Zoe");
  await page.getByRole("radio", { name: "1 · bad" }).check();
  await expect(page.getByLabel("Why?")).toBeVisible();
  await expect(page.getByText("Draft saved")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Your name?")).toHaveValue("Zoe");
  await expect(page.getByLabel("Why?")).toBeVisible();
  expect((await responses(view))[0]).toMatchObject({ status: "draft", answers: { name: "Zoe", mood: 1 } });
});

test("answers survive a lost network", async ({ page, context }) => {
  const { url, view } = await published({ gate: "none" });
  await page.goto(url);
  await page.getByLabel("Your name?").fill("Zoe");
  await expect(page.getByText("Draft saved")).toBeVisible();
  await context.setOffline(true);
  await page.getByRole("radio", { name: "4" }).check();
  await expect(page.getByText("Your answers are kept in this tab.")).toBeVisible();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Submit again when you are online.")).toBeVisible();
  await context.setOffline(false);
  await page.reload();
  await expect(page.getByRole("radio", { name: "4" })).toBeChecked();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Your answers are recorded.")).toBeVisible();
  expect((await responses(view))[0]).toMatchObject({ answers: { name: "Zoe", mood: 4 } });
});

test("answers survive a submission that does not reach the server", async ({ page }) => {
  const { url, view } = await published({ gate: "none" });
  await page.goto(url);
  await page.getByLabel("Your name?").fill("Zoe");
  await expect(page.getByText("Draft saved")).toBeVisible();
  const form = page.url();
  // The server is down, and the browser believes that it is online.
  await page.route("**/forms/**", async (route) => {
    if (route.request().method() === "POST") await route.abort();
    else await route.continue();
  });
  await page.getByRole("radio", { name: "4" }).check();
  await expect(page.getByText("Your answers are kept in this tab.")).toBeVisible();
  await page.getByRole("button", { name: "Submit" }).click();
  // The browser shows its own page.
  await expect(page.getByLabel("Your name?")).toHaveCount(0);
  await page.unrouteAll({ behavior: "wait" });
  await page.goto(form);
  await expect(page.getByRole("radio", { name: "4" })).toBeChecked();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Your answers are recorded.")).toBeVisible();
  expect((await responses(view))[0]).toMatchObject({ answers: { name: "Zoe", mood: 4 } });
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
});

test("a save that ends while the page is loaded again is not forgotten", async ({ page }) => {
  const { url, view } = await published({ gate: "none" });
  await page.goto(url);
  await page.getByLabel("Your name?").fill("Zoe");
  await expect(page.getByText("Draft saved")).toBeVisible();
  const form = page.url();
  let send = () => {};
  const mayBeSent = new Promise<void>((resolve) => (send = resolve));
  // The new page is rendered before the save is sent, and shown after the old page has its answer.
  await page.route("**/draft*", async (route) => {
    await mayBeSent;
    await route.continue();
  });
  const isSaving = page.waitForRequest((request) => request.method() === "POST");
  await page.getByRole("radio", { name: "4" }).check();
  await isSaving;
  let saved = () => {};
  const isSaved = new Promise<void>((resolve) => (saved = resolve));
  await page.exposeFunction("draftSaved", () => saved());
  await page.evaluate(() => {
    const state = document.querySelector("[data-state]");
    const { draftSaved } = window as unknown as { draftSaved: () => void };
    if (state) new MutationObserver(() => draftSaved()).observe(state, { childList: true, characterData: true, subtree: true });
  });
  await page.route(form, async (route) => {
    const before = await route.fetch();
    send();
    await isSaved;
    await route.fulfill({ response: before });
  });
  await page.reload();
  await page.unrouteAll({ behavior: "wait" });
  await expect(page.getByRole("radio", { name: "4" })).toBeChecked();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Your answers are recorded.")).toBeVisible();
  expect((await responses(view))[0]).toMatchObject({ answers: { name: "Zoe", mood: 4 } });
});

test("typing during a save and leaving the tab is not taken for a change elsewhere", async ({ page }) => {
  const { url, view } = await published({ gate: "none" });
  await page.goto(url);
  await page.getByLabel("Your name?").fill("Zoe");
  await expect(page.getByText("Draft saved")).toBeVisible();
  let send = () => {};
  const mayBeSent = new Promise<void>((resolve) => (send = resolve));
  await page.route("**/draft", async (route) => {
    await mayBeSent;
    await route.continue();
  }, { times: 1 });
  const isSaving = page.waitForRequest((request) => request.method() === "POST");
  await page.getByRole("radio", { name: "4" }).check();
  await isSaving;
  await page.getByLabel("Your e-mail?").fill("zoe@example.org");
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    Reflect.deleteProperty(document, "visibilityState");
  });
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).toContain("zoe%40example.org");
  send();
  const answers = { name: "Zoe", mood: 4, mail: "zoe@example.org" };
  await expect.poll(async () => (await responses(view))[0]).toMatchObject({ status: "draft", answers });
  await expect(page.getByText("Draft saved")).toBeVisible();
  // The page still saves.
  await page.getByLabel("Your name?").fill("Zoe B.");
  await expect.poll(async () => (await responses(view))[0]).toMatchObject({ answers: { ...answers, name: "Zoe B." } });
});

test("a save whose answer is lost is not taken for a change elsewhere", async ({ page }) => {
  const { url, view } = await published({ gate: "none" });
  await page.goto(url);
  await page.route("**/draft", async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await page.getByLabel("Your name?").fill("Zoe");
  await expect(page.getByText("Your answers are kept in this tab.")).toBeVisible();
  await page.getByRole("radio", { name: "4" }).check();
  await expect(page.getByText("Draft saved")).toBeVisible();
  await expect.poll(async () => (await responses(view))[0]).toMatchObject({ answers: { name: "Zoe", mood: 4 } });
});

test("what was typed is kept when the form was changed in another tab", async ({ page, context }) => {
  const { url, view } = await published({ gate: "none" });
  await page.goto(url);
  await answer(page, "Zoe");
  await expect.poll(async () => (await responses(view))[0]).toMatchObject({ answers: { name: "Zoe", mood: 4 } });
  await expect(page.getByText("Draft saved")).toBeVisible();
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByLabel("Your name?").fill("Ann");
  await expect(other.getByText("Draft saved")).toBeVisible();
  await page.getByLabel("Your name?").fill("Max");
  await expect(page.getByText("Submit to decide which answers count.")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Your name?")).toHaveValue("Max");
  await expect(page.getByText("Submit to decide which answers count.")).toBeVisible();
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Below are the answers from this page.")).toBeVisible();
  await expect(page.getByLabel("Your name?")).toHaveValue("Max");
  expect((await responses(view))[0]).toMatchObject({ status: "draft", answers: { name: "Ann" } });
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Your answers are recorded.")).toBeVisible();
  expect((await responses(view))[0]).toMatchObject({ answers: { name: "Max", mood: 4 } });
});

test("a stranger's first page is light", async ({ page }, info) => {
  const { url } = await published({ gate: "none" });
  const network = await page.context().newCDPSession(page);
  const sizes: number[] = [];
  network.on("Network.loadingFinished", ({ encodedDataLength }) => sizes.push(encodedDataLength));
  await network.send("Network.enable");
  await page.goto(url, { waitUntil: "networkidle" });
  const total = sizes.reduce((sum, size) => sum + size, 0);
  await info.attach("bytes", { body: `${total} bytes in ${sizes.length} responses` });
  expect(sizes.length).toBeGreaterThan(2);
  expect(total).toBeLessThanOrEqual(BYTES_MAX);
});

test("a form in a frame tells its height to the page around it and answers", async ({ page }) => {
  let html = "";
  const around = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
  await new Promise<void>((ready) => around.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${(around.address() as AddressInfo).port}`;
  const { snippet, view, embedUrl } = await published({ gate: "none", embedOrigins: [origin] });
  html = `<!DOCTYPE html><title>Around</title>${snippet}`;
  await page.goto(origin);
  const frame = page.frameLocator("iframe");
  await frame.getByLabel("Your name?").fill("Zoe");
  await frame.getByRole("radio", { name: "4" }).check();
  await expect.poll(async () => Number(await page.locator("iframe").getAttribute("height"))).not.toBe(600);
  await frame.getByRole("button", { name: "Submit" }).click();
  await expect(frame.getByText("Your answers are recorded.")).toBeVisible();
  expect(await responses(view)).toHaveLength(1);

  // Another page may not show it.
  const other = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end(`<!DOCTYPE html><iframe src="${embedUrl}"></iframe>`),
  );
  await new Promise<void>((ready) => other.listen(0, "127.0.0.1", ready));
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
  await expect(page.frameLocator("iframe").getByLabel("Your name?")).toHaveCount(0);
  around.close();
  other.close();
});

test("a form in a frame that asks who answers opens in a new tab @nojs", async ({ page, context }) => {
  let html = "";
  const around = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
  await new Promise<void>((ready) => around.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${(around.address() as AddressInfo).port}`;
  const { snippet, view, embedUrl } = await published({ gate: "lead", embedOrigins: [origin] });
  html = `<!DOCTYPE html><html lang="en"><title>Around</title><main><h1>Around</h1>${snippet}</main></html>`;
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(embedUrl);
  await expectAccessibleAsWide(page);
  await page.goto(origin);
  const link = page.frameLocator("iframe").getByRole("link", { name: "Open the form in a new tab" });
  await expect(link).toBeVisible();
  const [tab] = await Promise.all([context.waitForEvent("page"), link.press("Enter")]);
  await tab.getByLabel("Name").fill("Zoe");
  await tab.getByLabel("E-mail").fill("zoe@example.org");
  await tab.getByRole("button", { name: "Continue" }).click();
  await answer(tab, "Zoe");
  await tab.getByRole("button", { name: "Submit" }).click();
  await expect(tab.getByText("Your answers are recorded.")).toBeVisible();
  expect(await responses(view)).toHaveLength(1);
  around.close();
});

test("a closed form answers kindly @nojs", async ({ page }) => {
  const { link, url } = await published({ gate: "none" });
  await page.goto(url);
  await api().send("DELETE", `/api/view-links/${link.id}`);
  await page.reload();
  await expect(page.getByRole("heading", { name: "This form does not accept answers" })).toBeVisible();
  await expectAccessibleAsWide(page);
  await page.goto(`${environment().url}/f/sbf_guess`);
  await expect(page.getByRole("heading", { name: "This form does not accept answers" })).toBeVisible();
});

test("a frame hides questions that do not apply, and a time has the reader's offset", async ({ browser }) => {
  let html = "";
  const around = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
  await new Promise<void>((ready) => around.listen(0, "127.0.0.1", ready));
  const origin = `http://127.0.0.1:${(around.address() as AddressInfo).port}`;
  const title = `Asks ${crypto.randomUUID().slice(0, 8)}`;
  const fields = [
    { key: "a", label: "Choose", type: "single_choice", options: ["x", "y"], required: true },
    { key: "t", label: "More", type: "long_text", showIf: { field: "a", equals: "y" } },
    { key: "when", label: "When", type: "date_time" },
  ];
  const view = await api().post<{ id: string }>("/api/views", { title, fields, publishConfig: { gate: "none", embedOrigins: [origin] } });
  await api().post(`/api/views/${view.id}/publish`);
  const { snippet } = await api().post<Made>(`/api/views/${view.id}/links`);
  html = `<!DOCTYPE html><title>Around</title>${snippet}`;
  const context = await browser.newContext({ timezoneId: "Asia/Kathmandu" });
  const page = await context.newPage();
  await page.goto(origin);
  const frame = page.frameLocator("iframe");
  await expect(frame.getByRole("group", { name: "Choose" })).toBeVisible();
  await expect(frame.getByLabel("More")).toBeHidden();
  await frame.getByRole("radio", { name: "y" }).check();
  await expect(frame.getByLabel("More")).toBeVisible();
  await frame.getByRole("radio", { name: "x" }).check();
  await expect(frame.getByLabel("More")).toBeHidden();
  await expect(frame.getByLabel("Time zone of: When")).toHaveValue("+05:45");
  await frame.getByLabel("When (optional)").fill("2026-03-01T09:30");
  await frame.getByRole("button", { name: "Submit" }).click();
  await expect(frame.getByText("Your answers are recorded.")).toBeVisible();
  expect((await responses(view.id))[0]!.answers).toEqual({ a: "x", when: "2026-03-01T09:30:00+05:45" });
  await context.close();
  around.close();
});
