/** The shell of every page: the palette, the bottom bar of phones, error pages, and the start of Today. */
import { devices, type Page } from "@playwright/test";
import {
  api,
  expect,
  expectAccessible,
  expectAccessibleAsWide,
  hydrated,
  pageLoaded,
  signIn,
  environment,
  test,
} from "../support";
import { unfoldQuestions } from "../questions";

let count = 0;
const unique = (name: string) => `${name} ${Date.now().toString(36)} ${count++}`;
const options = (page: Page) => page.locator("#palette-list [role=option]:visible");
const field = (page: Page) => page.locator("#palette-input");

async function openPalette(page: Page) {
  await page.keyboard.press("ControlOrMeta+k");
  await expect(field(page)).toBeFocused();
}

test.describe("the palette", () => {
  test("finds actions, entities, agents, sessions and settings", async ({ page }) => {
    const name = unique("Quarterly");
    const agent = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const action = await api().createAction({ name, agentSlug: agent });
    const session = await api().trigger(action.id);
    const type = await api().post<{ id: string }>("/api/entity-types", { name: unique("Kind"), fields: [] });
    const entity = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title: `${name} Ltd`, fields: {} });
    await signIn(page, "operator");
    // A short page: axe looks at all of it.
    await page.goto("/bundles");
    await hydrated(page);
    await openPalette(page);
    await field(page).fill(name);
    const hrefs = () => options(page).evaluateAll((found) => found.map((option) => option.getAttribute("data-href")));
    const events = (q: string) => `/search?${new URLSearchParams({ q })}`;
    const found = [`/actions/${action.id}`, `/entities/${entity.id}`, `/sessions/${session.id}`];
    await expect.poll(hrefs).toEqual([...found, events(name)]);
    await expectAccessible(page, "the palette");
    await field(page).fill(agent);
    await expect.poll(hrefs).toEqual([`/chat?agent=${agent}`, events(agent)]);
    await page.keyboard.press("Enter");
    await expect(page.locator('select[name="agent"]')).toHaveValue(agent);
    await hydrated(page);
    await openPalette(page);
    await field(page).fill("settings tok");
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/\/settings#tokens$/);
  });

  test("says when nothing matches, and moves by keys", async ({ page }) => {
    await signIn(page, "operator");
    await page.goto("/today");
    await hydrated(page);
    await openPalette(page);
    await field(page).fill("~");
    await expect(page.locator("#palette-none")).toHaveText("Nothing matches.");
    await expect(options(page)).toHaveCount(0);
    await field(page).fill("zebra crossing nobody has");
    await expect(options(page)).toHaveText(["Search all events for “zebra crossing nobody has”search"]);
    await field(page).fill("go to");
    await expect(page.locator("#palette-none")).toHaveText("");
    const chosen = page.locator("#palette-list [aria-selected=true]");
    await expect(chosen).toContainText("Go to Today");
    await page.keyboard.press("ArrowDown");
    await expect(chosen).toContainText("Go to Inbox");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await expect(chosen).not.toContainText("Go to Today");
  });

  test("what was chosen by keys stays chosen when the server answers", async ({ page }) => {
    await signIn(page, "operator");
    await page.goto("/today");
    await hydrated(page);
    let answer = () => {};
    const pressed = new Promise<void>((go) => (answer = go));
    await page.route("**/find?q=*", async (route) => {
      await pressed;
      await route.continue();
    });
    await openPalette(page);
    const search = page.waitForRequest("**/find?q=*");
    const answered = page.waitForResponse("**/find?q=*");
    await field(page).fill("go to");
    await search;
    await page.keyboard.press("ArrowDown");
    const chosen = page.locator("#palette-list [aria-selected=true]");
    await expect(chosen).toContainText("Go to Inbox");
    answer();
    await (await answered).finished();
    // Until the answer has been shown.
    await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown))));
    await expect(chosen).toContainText("Go to Inbox");
  });

  test("runs a command of the page, and offers none that the page has not", async ({ page }) => {
    const agent = unique("cmd").toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const action = await api().createAction({ name: agent, agentSlug: agent });
    const { id } = await api().trigger(action.id);
    const { attempt } = await api().claim(agent);
    await api().append(id, attempt, [{ type: "agent.thinking", content: [{ type: "text", text: "folded thought" }] }]);
    await signIn(page, "operator");
    await page.goto("/today");
    await hydrated(page);
    await openPalette(page);
    await field(page).fill("unfold");
    await expect(options(page)).toHaveCount(0);
    await page.goto(`/sessions/${id}`);
    await hydrated(page);
    await openPalette(page);
    await field(page).fill("unfold");
    await page.keyboard.press("Enter");
    await expect(page.locator("#palette")).toBeHidden();
    await expect(page.locator("details.thinking")).toHaveAttribute("open", "");
    await api().complete(id, attempt);
  });

  test("cuts no row at its end, whatever the height of the window", async ({ page }) => {
    await signIn(page, "operator");
    await page.goto("/bundles");
    await hydrated(page);
    await openPalette(page);
    await expect(options(page).first()).toBeVisible();
    for (const height of [900, 700, 533, 410]) {
      await page.setViewportSize({ width: 1280, height });
      const cut = await page.locator("#palette-list").evaluate((list) => {
        const { bottom } = list.getBoundingClientRect();
        const boxes = [...list.children].map((option) => option.getBoundingClientRect());
        return boxes.filter((box) => box.top < bottom - 1 && box.bottom > bottom + 1).length;
      });
      expect(cut, `at ${height} px`).toBe(0);
      await page.keyboard.press("ArrowUp");
      const [last, dialog] = [(await options(page).last().boundingBox())!, (await page.locator("#palette").boundingBox())!];
      expect(last.y + last.height).toBeLessThanOrEqual(dialog.y + dialog.height);
      await page.keyboard.press("ArrowDown");
    }
  });

  test("runs the task of its page, changes the theme and signs out", async ({ page }) => {
    const action = await api().createAction({ name: unique("Palette"), agentSlug: "palette" });
    await signIn(page, "operator");
    await page.goto(`/actions/${action.id}`);
    await hydrated(page);
    const run = async (command: string) => {
      await openPalette(page);
      await field(page).fill(command);
      await page.keyboard.press("Enter");
    };
    await run("run this");
    await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]{36}/);
    await hydrated(page);
    await openPalette(page);
    await field(page).fill("run this");
    await expect(options(page)).toHaveCount(0);
    await page.keyboard.press("Escape");
    const before = await page.getByRole("button", { name: /^Theme:/ }).getAttribute("aria-label");
    await run("change the theme");
    await expect(page.getByRole("button", { name: /^Theme:/ })).not.toHaveAttribute("aria-label", before!);
    await run("sign out");
    await expect(page).toHaveURL(/\/sign-in/);
  });
});

test("the end of the rail is reached on a low window @nojs", async ({ page }) => {
  await signIn(page, "operator");
  for (const viewport of [{ width: 640, height: 450 }, { width: 800, height: 600 }]) {
    await page.setViewportSize(viewport);
    await page.goto("/bundles");
    const end = page.locator(".rail").getByRole("button", { name: "Sign out" });
    await end.scrollIntoViewIfNeeded();
    await expect(end).toBeInViewport({ ratio: 1 });
    await expect(page.locator(".rail")).toHaveCSS("overflow-y", "auto");
  }
});

test.describe("on a phone", () => {
  test.use({ viewport: devices["Pixel 5"].viewport });

  test("every page, the way out, search, theme and the palette are within reach, with their names @nojs", async ({ page, javaScriptEnabled }) => {
    await signIn(page, "operator");
    await page.goto("/today");
    const bar = page.getByRole("navigation", { name: "Main" });
    for (const name of ["Today", "Inbox", "Sessions", "Chat"]) {
      await expect(bar.getByRole("link", { name: new RegExp(`^${name}`) }).locator(".rail-text")).toBeInViewport();
    }
    await bar.getByText("More", { exact: true }).click();
    for (const name of ["Tasks", "Entities", "Insights", "Settings", "Search sessions", "Theme"]) {
      await expect(bar.getByRole("link", { name }).last()).toBeInViewport();
    }
    if (javaScriptEnabled) {
      await hydrated(page);
      await expectAccessibleAsWide(page);
      await bar.getByRole("button", { name: "Go to or search" }).click();
      await expect(field(page)).toBeFocused();
      await page.keyboard.press("Escape");
    }
    await bar.getByRole("button", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/sign-in/);
  });
});

test("an error page keeps the shell of who is signed in, and strangers see none @nojs", async ({ page }) => {
  const missing = "/sessions/00000000-0000-7000-8000-000000000000";
  await page.goto("/nothing-is-here");
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  await expect(page.locator(".rail")).toHaveCount(0);
  await signIn(page, "operator");
  for (const path of [missing, "/nothing-is-here"]) {
    expect((await page.goto(path))?.status()).toBe(404);
    await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
    await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  }
});

test("Today shows its counts at once @nojs", async ({ page }) => {
  await signIn(page, "operator");
  await page.goto("/today");
  const counts = await page.locator(".strip-count").allTextContents();
  expect(counts).toHaveLength(5);
  for (const figure of counts) expect(figure).toMatch(/^\d+$/);
});

test("Today asks for nothing again that it has just shown", async ({ page }) => {
  await signIn(page, "operator");
  // The first page of a browser is rendered without its time zone.
  await page.goto("/today");
  await hydrated(page);
  await pageLoaded(page);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  await page.goto("/today");
  await hydrated(page);
  await expect(page.locator(".connection")).toHaveText("Live");
  await pageLoaded(page);
  const again = ["/today/section", "/today/questions", "/api/today/work-queue-counts"];
  expect(requested.filter((path) => again.some((start) => path.startsWith(start)))).toEqual([]);
  // Later changes are read.
  const me = (await (await page.context().request.get(`${environment().url}/api/me`)).json()) as { user: { id: string } };
  const ready = page.locator('[data-bucket="delegatable"] .strip-count');
  const before = Number(await ready.textContent());
  await api().createAction({ name: unique("Ready"), agentSlug: "delegate", assignedTo: me.user.id });
  await expect(ready).toHaveText(String(before + 1));
});

test("an action asks for what its input is made of, and begins with the last one @nojs", async ({ page }) => {
  const agent = unique("form").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const inputSchema = {
    type: "object",
    required: ["week"],
    properties: { week: { type: "integer", title: "Week" }, team: { type: "string", title: "Team", enum: ["sales", "support"] } },
  };
  const action = await api().createAction({ name: agent, agentSlug: agent, metadata: { inputSchema } });
  await signIn(page, "operator");
  await page.goto(`/actions/${action.id}`);
  await page.getByLabel("Week").fill("many");
  await page.getByLabel("Team").selectOption("support");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByLabel("Week")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Team")).toHaveValue("support");
  await page.getByLabel("Week").fill("47");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page).toHaveURL(/\/sessions\//);
  const { input } = await api().claim(agent);
  expect(input).toEqual({ week: 47, team: "support" });
  await page.goto(`/actions/${action.id}`);
  await expect(page.getByLabel("Week")).toHaveValue("47");
  await expect(page.getByLabel("Team")).toHaveValue("support");
});

test("a long input is cut in the table of sessions, and no column is lost", async ({ page }) => {
  const agent = unique("wide").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const words = "Look at everything that came in since Monday, and say for each what it is about and who has to answer it";
  const session = await api().trigger((await api().createAction({ name: agent, agentSlug: agent })).id, words);
  await api().claim(agent);
  await api().append(session.id, 1, [{ type: "agent.message", content: [{ type: "text", text: words }] }]);
  await signIn(page, "operator");
  for (const width of [1280, 700, 640, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto("/sessions");
    const row = page.locator(`[data-session-id="${session.id}"]`);
    await expect(row.locator(".row-input")).toContainText("Look at everything");
    // Whatever the other rows hold, this one has the widest words of each column.
    await row.evaluate((line) => {
      line.querySelector(".badge > span:last-child")!.textContent = "Abandoned";
      const widest = ["Response", "26 Nov 2025, 14:02", "23 h 59 min", "1,000,000", "$1,234.56"];
      widest.forEach((words, at) => { line.children.item(3 + at)!.textContent = words; });
    });
    const tooWide = await page.locator(".table-frame").evaluate((frame) => frame.scrollWidth - frame.clientWidth);
    expect(tooWide, `at ${width}`).toBeLessThanOrEqual(0);
  }
  await api().complete(session.id, 1);
});

test("Today shows a question while it waits for an answer, without a reload", async ({ page }) => {
  const agentSlug = unique("asker").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const action = await api().createAction({ name: unique("Compare"), agentSlug });
  const session = await api().trigger(action.id);
  const { attempt } = await api().claim(agentSlug, 600);
  await signIn(page, "reviewer");
  await page.goto("/today");
  await hydrated(page);
  await expect(page.locator(".connection")).toHaveText("Live");
  const message = unique("Which offers?");
  const { request } = await api().post<{ request: { id: string } }>(`/api/sessions/${session.id}/feedback-requests`, {
    attempt,
    message,
    blocking: false,
    idempotencyKey: "k",
    fields: [{ key: "which", label: "Which?", type: "short_text", required: true }],
  });
  const questions = page.getByRole("region", { name: /open questions?$/ });
  const asked = questions.locator(`a.row-title[href="/inbox/${request.id}"]`);
  await expect(asked).toHaveText(message);
  await unfoldQuestions(page);
  await expect(questions.getByRole("link", { name: "Answer this" }).first()).toBeVisible();
  await expectAccessible(page);
  await api().post(`/api/feedback-requests/${request.id}/answer`, { content: { which: "Both" } });
  await expect(asked).toHaveCount(0);
});

test("the list of shortcuts begins with those of its page, and the keys of its pages lead there", async ({ page }) => {
  await signIn(page, "operator");
  const dialog = page.getByRole("dialog", { name: "Keyboard" });
  for (const [path, first] of [["/sessions", "Everywhere"], ["/inbox", "Inbox"]] as const) {
    await page.goto(path);
    await hydrated(page);
    await page.keyboard.press("?");
    await expect(dialog.getByRole("heading", { level: 3 }).first()).toHaveText(first);
    const [close, all] = [(await dialog.getByRole("button", { name: "Close" }).boundingBox())!, (await dialog.boundingBox())!];
    expect(all.x + all.width - close.x - close.width, "Close stands at the end of the title's line").toBeLessThan(32);
    await expectAccessible(page, `the list of shortcuts over ${path}`);
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  }
  for (const [keys, path] of [["gm", "/memory"], ["go", "/agents"], ["gf", "/views"]] as const) {
    await hydrated(page);
    for (const key of keys) await page.keyboard.press(key);
    await expect(page).toHaveURL(new RegExp(`${path}$`));
  }
});

test("Today waits for an agent after its token was made, and says when it is connected", async ({ page }) => {
  await signIn(page, "admin", "other");
  // What the button of an empty workspace sends. Other tests may have run something in this one.
  const form = { name: "scout (worker)", scope: "worker", role: "operator", next: "/today" };
  const options = { form, headers: { origin: environment().url }, maxRedirects: 0 };
  const made = await page.context().request.post(`${environment().url}/settings/tokens`, options);
  await page.goto(made.headers()["location"]!);
  await hydrated(page);
  const lines = await page.locator(".connect pre").innerText();
  const state = page.locator(".connection-state");
  await expect(state).toHaveText("Waiting for scout…");
  await expectAccessible(page, "Today with a token");
  const token = /SHIFTBOOK_TOKEN=(\S+)/.exec(lines)![1]!;
  await api(token, "other").post("/api/sessions/claim", { agentSlugs: ["scout"] });
  await expect(state).toContainText("scout is connected.");
  await expect(page.locator(".connect pre")).toHaveText(lines);
});
