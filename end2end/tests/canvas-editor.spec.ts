/** The editor of a canvas: several people type, move, paste and suggest at the same time. */
import { type Browser, type Locator, type Page } from "@playwright/test";
import { type Role } from "../environment";
import { cookieOf, environment, expect, expectAccessible, hydrated, signIn, test } from "../support";

/** Calls the API as a person. */
async function call<T>(role: Role, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${environment().url}${path}`, {
    method,
    headers: { cookie: await cookieOf(role), origin: environment().url, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
  return (await response.json()) as T;
}

interface Canvas {
  id: string;
  version: number;
  document: { blocks: Record<string, { text?: string; order: string }> };
}

/** A canvas of the operator, with texts as blocks a, b, c and so on. The admin takes part with a role. */
async function canvas(role: "edit" | "suggest", ...texts: string[]): Promise<string> {
  const blocks = texts.map((text, at) => [String.fromCharCode(97 + at), { type: "text", text, order: `a${at}` }]);
  const made = await call<Canvas>("operator", "POST", "/api/canvases", {
    title: `Plan ${Date.now().toString(36)}`,
    document: { blocks: Object.fromEntries(blocks) as unknown },
  });
  const { members } = await call<{ members: { id: string; email: string }[] }>("admin", "GET", "/api/members");
  const admin = members.find(({ email }) => email === environment().tenants.acme.people.admin.email)!.id;
  await call("operator", "PUT", `/api/canvases/${made.id}/participants`, { participant: `user:${admin}`, role });
  return made.id;
}

async function open(page: Page, role: Role, id: string) {
  await signIn(page, role);
  await page.goto(`/canvases/${id}`);
  await hydrated(page);
  await expect(page.locator(".canvas")).toHaveAttribute("data-editing", "");
}

/** Opens the canvas in a browser of the admin. */
async function openBeside(browser: Browser, id: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: environment().url, reducedMotion: "reduce" });
  const page = await context.newPage();
  await open(page, "admin", id);
  return page;
}

const fields = (page: Page): Locator => page.locator(".canvas-editor textarea");
const shown = (page: Page) => fields(page).evaluateAll((all) => all.map((field) => (field as HTMLTextAreaElement).value));
const saved = (page: Page) => expect(page.locator(".canvas-status")).toHaveText("Saved");

/** Pastes into the field with the focus, as a person does. */
async function paste(field: Locator, kind: string, content: string) {
  await field.focus();
  await field.evaluate(
    (element, [kind, content]) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData(kind!, content!);
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    },
    [kind, content],
  );
}

test("two people type at once and see the same document; keys add, move and undo", async ({ page, browser }) => {
  test.slow();
  const id = await canvas("edit", "one two three", "second");
  await open(page, "operator", id);
  const other = await openBeside(browser, id);
  const first = fields(page).first();
  await first.press("End");
  await Promise.all([
    first.pressSequentially(" four five", { delay: 20 }),
    (async () => {
      await fields(other).first().press("Home");
      await fields(other).first().pressSequentially("zero ", { delay: 20 });
    })(),
  ]);
  for (const each of [page, other]) await expect(fields(each).first()).toHaveValue("zero one two three four five");
  // The cursor stays at the words of its author.
  await first.pressSequentially("!");
  await expect(fields(other).first()).toHaveValue("zero one two three four five!");

  await first.press("Enter");
  await fields(page).nth(1).pressSequentially("/head");
  await expect(page.getByRole("option", { name: "Heading" })).toHaveAttribute("aria-selected", "true");
  await fields(page).nth(1).press("Enter");
  await fields(page).nth(1).pressSequentially("Goals");
  await expect(fields(other).nth(1)).toHaveAttribute("data-look", "heading");
  await expect(fields(other).nth(1)).toHaveValue("Goals");

  await fields(page).nth(1).press("Alt+ArrowUp");
  await expect.poll(() => shown(other)).toEqual(["Goals", "zero one two three four five!", "second"]);
  await expect(fields(page).first()).toBeFocused();
  await saved(page);
  await page.keyboard.press("Control+z");
  await expect.poll(() => shown(other)).toEqual(["zero one two three four five!", "Goals", "second"]);
  await expectAccessible(page);
  await other.context().close();
});

test("pasted Markdown and a pasted table become blocks, each as one step", async ({ page }) => {
  const id = await canvas("edit", "before", "");
  await open(page, "operator", id);
  await paste(fields(page).nth(1), "text/plain", "# Head\n\n- [ ] open\n- [x] done\n\ntext");
  await expect.poll(() => shown(page)).toEqual(["before", "Head", "open", "done", "text"]);
  await expect(page.getByRole("checkbox", { name: "Done: done" })).toBeChecked();
  const table = "<table><tr><th>Name</th><th>Size</th></tr><tr><td>a</td><td>1</td></tr></table>";
  await paste(fields(page).last(), "text/html", table);
  await expect(page.getByRole("columnheader")).toHaveCount(2);
  await expect.poll(() => shown(page)).toEqual(["before", "Head", "open", "done", "text", "Name", "Size", "a", "1"]);
  await expectAccessible(page, "a table and a checklist");
  for (const name of ["Remove column 1: Name", "Remove column 2: Size", "Remove row 1"]) {
    await expect(page.getByRole("button", { name, exact: true })).toHaveCount(1);
  }
  await saved(page);
  for (const left of [["before", "Head", "open", "done", "text"], ["before", ""]]) {
    await fields(page).first().press("Control+z");
    await expect.poll(() => shown(page)).toEqual(left);
    await saved(page);
  }
});

test("a change that is not accepted is shown with its text, and one press puts it back", async ({ page, context }) => {
  const id = await canvas("edit", "kept", "gone");
  await open(page, "operator", id);
  await context.setOffline(true);
  await fields(page).nth(1).press("End");
  await fields(page).nth(1).pressSequentially(" with my words");
  await expect(page.locator(".canvas-status")).toContainText("Offline");
  await fields(page).first().focus();
  const { version } = await call<Canvas>("admin", "GET", `/api/canvases/${id}`);
  const ops = [{ op: "remove", path: "/blocks/b" }];
  await call("admin", "POST", `/api/canvases/${id}/patches`, { opId: "other:1", base: version, ops });
  await context.setOffline(false);
  const notice = page.locator(".canvas-notice");
  await expect(notice).toContainText("gone with my words");
  await expect.poll(() => shown(page)).toEqual(["kept"]);
  // Reading the canvas again after the gap leaves the cursor where it is.
  await expect(fields(page).first()).toBeFocused();
  await expectAccessible(page, "a rejected change");
  await notice.getByRole("button", { name: "Put mine back" }).click();
  await expect.poll(() => shown(page)).toEqual(["kept", "gone with my words"]);
  await saved(page);
  const now = await call<Canvas>("operator", "GET", `/api/canvases/${id}`);
  expect(Object.values(now.document.blocks).map(({ text }) => text).sort()).toEqual(["gone with my words", "kept"]);
});

test("the changes of someone who suggests wait until an editor accepts them", async ({ page, browser }) => {
  const id = await canvas("suggest", "first");
  await open(page, "operator", id);
  const other = await openBeside(browser, id);
  await fields(other).first().press("End");
  await fields(other).first().pressSequentially(" and more");
  await expect(other.locator(".canvas-status")).toHaveText("1 change is not sent yet.");
  await other.getByRole("button", { name: "Send as a suggestion" }).click();
  await expect(fields(other).first()).toHaveValue("first");
  // The editor of the other person shows it without a reload.
  const suggestion = page.locator(".canvas-suggestion");
  await expect(suggestion).toContainText("first and more");
  await suggestion.getByRole("button", { name: "Accept" }).click();
  for (const each of [page, other]) await expect(fields(each).first()).toHaveValue("first and more");
  await expect(suggestion).toHaveCount(0);
  await expect(other.locator(".canvas-suggestion")).toHaveCount(0);
  await other.context().close();
});

test("a suggestion is accepted in the inbox by mouse", async ({ page }) => {
  const id = await canvas("suggest", "first");
  const { version } = await call<Canvas>("admin", "GET", `/api/canvases/${id}`);
  const ops = [{ op: "replace", path: "/blocks/a/text", value: "second" }];
  await call("admin", "POST", `/api/canvases/${id}/patches`, { opId: "admin:1", base: version, ops });
  await signIn(page, "operator");
  await page.goto("/inbox/patches");
  await hydrated(page);
  const item = page.locator(`section[data-row]:has(a[href="/canvases/${id}"])`);
  await item.getByRole("button", { name: /^Accept/ }).click();
  await expect(item).toHaveCount(0);
  const now = await call<Canvas>("operator", "GET", `/api/canvases/${id}`);
  expect(now.document.blocks.a!.text).toBe("second");
});

test("the result of a tool is shown in the form that it has on other pages", async ({ page }) => {
  const id = await canvas("edit", "first");
  await open(page, "operator", id);
  const change = async (op: string, path: string, value: unknown) => {
    const { version } = await call<Canvas>("admin", "GET", `/api/canvases/${id}`);
    const patch = { opId: `other:${version}`, base: version, ops: [{ op, path, value }] };
    await call("admin", "POST", `/api/canvases/${id}/patches`, patch);
  };
  const block = { type: "result", heading: "Search", session: "", order: "a1" };
  await change("add", "/blocks/r", { ...block, value: [{ name: "one" }, { name: "two" }] });
  const shown = page.locator('[data-block="r"]');
  await expect(shown.getByRole("cell", { name: "two" })).toBeVisible();
  await expect(shown.locator(".canvas-other")).toBeHidden();
  await expectAccessible(page, "the result of a tool");
  // The menu opens below its handle, however high the block is.
  const heightOf = async (part: Locator) => (await part.boundingBox())!.height;
  expect(await heightOf(shown.locator(".canvas-menu"))).toBeLessThan((await heightOf(shown)) / 2);
  // A narrow screen has the names of the columns, and paper has no second copy of the table.
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await heightOf(shown.locator("thead"))).toBeGreaterThan(8);
  await page.emulateMedia({ media: "print" });
  await expect(shown.locator(".result-json")).toBeHidden();
  await page.emulateMedia({ media: "screen" });
  await change("replace", "/blocks/r/value", [{ name: "three" }, { name: "four" }]);
  await expect(shown.getByRole("cell", { name: "three" })).toBeVisible();
  await expect(shown.getByRole("cell", { name: "two" })).toHaveCount(0);
  // What has no form stays JSON.
  await change("replace", "/blocks/r/type", "drawing");
  await expect(shown.locator(".canvas-other")).toContainText("three");
  await expect(shown.getByRole("cell")).toHaveCount(0);
});

test("the slider of the versions follows the keyboard, also without the server", async ({ page, context }) => {
  const id = await canvas("edit", "first");
  const { version } = await call<Canvas>("admin", "GET", `/api/canvases/${id}`);
  for (const at of [version, version + 1]) {
    const ops = [{ op: "replace", path: "/blocks/a/text", value: `text ${at}` }];
    await call("admin", "POST", `/api/canvases/${id}/patches`, { opId: `other:${at}`, base: at, ops });
  }
  await signIn(page, "operator");
  await page.goto(`/canvases/${id}/versions`);
  const slider = page.getByRole("slider", { name: "Version" });
  const show = page.locator(".canvas-scrub[data-scrub] button");
  await expect(show).toBeHidden();
  await slider.press("ArrowLeft");
  await expect(page.getByText(`Version ${version + 1} of ${version + 2}`)).toBeVisible();
  await expect(slider).toBeFocused();
  await context.setOffline(true);
  await slider.press("Home");
  await expect(slider).toHaveAttribute("aria-valuetext", `version ${version}`);
  // The version cannot be loaded, so the button is back.
  await expect(show).toBeVisible();
  await context.setOffline(false);
  await show.click();
  await expect(page.getByText(`Version ${version} of ${version + 2}`)).toBeVisible();
  await expectAccessible(page, "versions");
});

test("paper shows all of a document, and nothing that is only for the screen", async ({ page }) => {
  const id = await canvas("edit", "first");
  const { version } = await call<Canvas>("admin", "GET", `/api/canvases/${id}`);
  const rows = Array.from({ length: 60 }, (_, at) => `row ${at}`);
  const blocks = [
    ["d", { type: "drawing", rows, order: "a1" }],
    ["c", { type: "code", text: "long ".repeat(400), order: "a2" }],
  ] as const;
  const ops = blocks.map(([key, value]) => ({ op: "add", path: `/blocks/${key}`, value }));
  await call("admin", "POST", `/api/canvases/${id}/patches`, { opId: "other:1", base: version, ops });
  await open(page, "operator", id);
  await page.emulateMedia({ media: "print" });
  await expect(page.locator(".canvas-status")).toBeHidden();
  for (const part of [page.locator('[data-block="d"] .canvas-other'), page.locator('[data-block="c"] textarea')]) {
    await expect(part).toBeVisible();
    await expect.poll(() => part.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThan(2);
    expect(await part.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThan(2);
  }
});
