/** Working sessions of people: the picker, the marker, the keys, and the forms without scripts. */
import { api, expect, expectAccessible, test, type Session } from "../support";
import {
  activeOf, awake, begin, find, finder, holdBackTasks, idle, logOf, marker, options, pathsOf, pick, postAs, said, signInIdle, stopButton, taskFor, visit, working,
} from "../working";

test("what somebody picked, opened and noted stands in the transcript in that order", async ({ page }) => {
  await signInIdle(page, "operator");
  const task = await taskFor(page, "Q2 portfolio review");
  await awake(page, "/today");
  await pick(page, task.name);
  await expect(working(page, task.name)).toBeVisible();
  const session = await expect.poll(() => activeOf(page.context())).not.toBeNull().then(() => activeOf(page.context()));
  await visit(page, "/actions");
  await visit(page, "/sessions");
  await page.keyboard.press("ControlOrMeta+m");
  await expect(marker(page)).toBeVisible();
  await page.keyboard.type("drafting “outreach” to Acme");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Marker recorded.")).toBeVisible();
  await expect(marker(page)).toBeHidden();
  const log = await logOf(session!.id, "human.navigate,human.marker");
  expect(log.map((event) => event.metadata.pathname ?? event.content)).toEqual([
    "/today", "/actions", "/sessions", [{ type: "text", text: "drafting “outreach” to Acme" }],
  ]);
  expect(log.every((event) => event.metadata.at === event.at?.replace("+00:00", "Z"))).toBe(true);
  await page.goto(`/sessions/${session!.id}`);
  const rows = page.locator('[data-group="people"]');
  await expect(rows.nth(0)).toContainText("Went to /today");
  await expect(rows.nth(2)).toContainText("Went to /sessions");
  await expect(rows.nth(3)).toContainText("Marker: “drafting “outreach” to Acme”");
});

test("the picker is worked by keyboard alone", async ({ page }) => {
  await signInIdle(page, "operator");
  const first = await taskFor(page, "Keyboard alpha");
  const second = await taskFor(page, "Keyboard beta");
  await awake(page, "/sessions");
  await idle(page).focus();
  await page.keyboard.press("Enter");
  await expect(finder(page)).toBeFocused();
  await page.keyboard.type("keyboard");
  await expect(options(page).first()).toContainText("Keyboard");
  const chosen = page.locator('#working-list [aria-selected="true"]');
  const active = async () => {
    const id = await finder(page).getAttribute("aria-activedescendant");
    expect(await chosen.getAttribute("id")).toBe(id);
    return (await chosen.textContent()) ?? "";
  };
  expect(await active()).toBe(second.name);
  await page.keyboard.press("ArrowDown");
  expect(await active()).toBe(first.name);
  await page.keyboard.press("End");
  expect(await active()).toContain("Create new task");
  await page.keyboard.press("Home");
  expect(await active()).toBe(second.name);
  await page.keyboard.press("ArrowUp");
  expect(await active()).toContain("Create new task");
  await page.keyboard.press("Escape");
  await expect(finder(page)).toBeHidden();
  await expect(idle(page)).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.type("beta");
  await expect(options(page).first()).toHaveText(second.name);
  await page.keyboard.press("Enter");
  await expect(finder(page)).toBeHidden();
  await expect(working(page, second.name)).toBeVisible();
  await working(page).press("Enter");
  await expect(finder(page)).toBeFocused();
  await page.keyboard.press("End");
  await expect(chosen).toHaveText("Stop working");
  await page.keyboard.press("Enter");
  await expect(idle(page)).toBeVisible();
  await expect.poll(() => activeOf(page.context())).toBeNull();
});

for (const role of ["operator", "reviewer", "member"] as const) {
  test(`a task can be made in the picker by a person with the role ${role}`, async ({ page }) => {
    await signInIdle(page, role);
    await awake(page, "/today");
    await idle(page).click();
    await expect(options(page).last()).toHaveText("Create new task…");
    await finder(page).press("End");
    await expect(page.locator("#working-list [aria-selected=true]")).toHaveText("Create new task…");
    await finder(page).press("Enter");
    const name = page.getByRole("combobox", { name: "Name of the new task" });
    await expect(name).toBeFocused();
    await name.fill(`Made by a ${role}`);
    await name.press("Enter");
    await expect(working(page, `Made by a ${role}`)).toBeVisible();
    await expect.poll(async () => (await activeOf(page.context()))?.title).toBe(`Made by a ${role}`);
  });
}

test("a task whose creation got no answer is made once when it is created again", async ({ page }) => {
  const name = `Perhaps made ${Date.now().toString(36)}`;
  await signInIdle(page, "operator");
  await awake(page, "/today");
  let requests = 0;
  await page.route("**/fn/working-on/create", async (route) => {
    if (requests++ > 0) return route.continue();
    // The request arrives, and the response is lost.
    await route.fetch();
    await route.abort();
  });
  const create = async () => {
    await idle(page).click();
    await finder(page).fill(name);
    await options(page).filter({ hasText: `Create new task “${name}”` }).click();
  };
  await create();
  await expect(said(page)).toContainText("not known whether the task was created");
  await expect.poll(async () => (await activeOf(page.context()))?.title).toBe(name);
  await create();
  await expect(working(page, name)).toBeVisible();
  const { items } = await api().get<{ items: unknown[] }>(`/api/actions?q=${encodeURIComponent(name)}`);
  expect(items).toHaveLength(1);
});

test("Enter that is pressed before the tasks have come starts the task that was typed, and creates none", async ({ page }) => {
  await signInIdle(page, "operator");
  const suffix = Date.now().toString(36);
  const task = await taskFor(page, `Call Acme ${suffix}`);
  const release = await holdBackTasks(page);
  await awake(page, "/today");
  await idle(page).click();
  await finder(page).fill(`acme ${suffix}`);
  await finder(page).press("Enter");
  await expect(finder(page)).toBeVisible();
  release();
  await expect(working(page, task.name)).toBeVisible();
  await expect.poll(async () => (await activeOf(page.context()))?.title).toBe(task.name);
  const { items } = await api().get<{ items: unknown[] }>(`/api/actions?q=${suffix}`);
  expect(items).toHaveLength(1);
});

test("a row that somebody went to stays chosen when the tasks come late", async ({ page }) => {
  await signInIdle(page, "operator");
  await taskFor(page, "Comes late");
  const release = await holdBackTasks(page);
  await awake(page, "/today");
  await idle(page).click();
  await expect(options(page)).toHaveText(["Create new task…"]);
  await finder(page).press("End");
  release();
  await expect(options(page).filter({ hasText: "Comes late" })).toBeVisible();
  await expect(page.locator("#working-list [aria-selected=true]")).toHaveText("Create new task…");
});

test("one click stops the work, and what was opened before is in the log", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Stopped at once"));
  await visit(page, "/actions");
  await stopButton(page).click();
  await expect(idle(page)).toBeVisible();
  await expect.poll(() => activeOf(page.context())).toBeNull();
  expect(await pathsOf(session)).toEqual(["/actions"]);
  expect(await api().session(session)).toMatchObject({ status: "completed" });
});

test("a stop that comes before the start is confirmed stops the session", async ({ page }) => {
  await signInIdle(page, "operator");
  const task = await taskFor(page, "Stopped before it began");
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  const started = new Promise<string>((done) =>
    page.route("**/fn/working-on/start", async (route) => {
      const answer = await route.fetch();
      done(((await answer.json()) as { session_id: string }).session_id);
      await released;
      await route.fulfill({ response: answer });
    }),
  );
  await awake(page, "/sessions");
  await pick(page, task.name);
  await stopButton(page).click();
  await expect(idle(page)).toBeVisible();
  const session = await started;
  expect(await api().session(session)).toMatchObject({ status: "running" });
  release();
  await expect.poll(async () => (await api().session(session)).status).toBe("completed");
  await expect.poll(() => activeOf(page.context())).toBeNull();
  await expect(idle(page)).toBeVisible();
  await page.unroute("**/fn/working-on/start");
  await pick(page, task.name);
  await expect.poll(async () => (await activeOf(page.context()))?.title).toBe(task.name);
  await expect(working(page, task.name)).toBeVisible();
});

test("a stop that waited for a start that was refused leaves what ran before", async ({ page }) => {
  await signInIdle(page, "operator");
  const before = await taskFor(page, "Ran before the refusal");
  const refused = await taskFor(page, "Refused after the stop");
  const session = await begin(page, before);
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route("**/fn/working-on/start", async (route) => {
    await released;
    await route.continue();
  });
  await awake(page, "/sessions");
  await pick(page, refused.name);
  await stopButton(page).click();
  await expect(idle(page)).toBeVisible();
  await api().send("PATCH", `/api/actions/${refused.id}`, { status: "archived" });
  release();
  await expect(said(page)).toContainText("The working session was not started.");
  await expect(working(page, before.name)).toBeVisible();
  expect((await activeOf(page.context()))?.id).toBe(session);
});

test("without scripts a link, a form and a button do the same @nojs", async ({ page }, info) => {
  await signInIdle(page, "reviewer");
  const task = await taskFor(page, `Plain work ${info.project.name}`);
  await page.goto("/today");
  if (info.project.name === "no-js") await page.getByRole("link", { name: "What are you working on?" }).click();
  else await page.goto("/working-on");
  await expect(page).toHaveURL(/\/working-on/);
  await page.getByRole("button", { name: `Work on this ${task.name}` }).click();
  await expect(page.getByText("Started. Pages you open from now on are recorded.")).toBeVisible();
  await expect(page.getByRole("main").getByText(`Working on ${task.name}`)).toBeVisible();
  await stopButton(page).click();
  if (info.project.name === "no-js") await expect(page.getByText("Stopped. Nothing is recorded from now on.")).toBeVisible();
  await expect.poll(() => activeOf(page.context())).toBeNull();
  await page.goto("/working-on");
  await expect(page.locator("#your-day")).toContainText(task.name);
  await expect(page.locator("#your-day")).toContainText("1 session");
  await page.goto("/today");
  await expect(page.locator("#your-day")).toContainText(task.name);
});

test("pickers of two tabs agree, also when both start at once", async ({ page }) => {
  await signInIdle(page, "operator");
  const [first, second] = [await taskFor(page, "Race one"), await taskFor(page, "Race two")];
  const other = await page.context().newPage();
  await awake(page, "/today");
  await awake(other, "/sessions");
  await pick(page, first.name);
  await expect(working(other, first.name)).toBeVisible();
  await stopButton(other).click();
  await expect(idle(page)).toBeVisible();
  // Both popovers are open before either starts: the other tab's button would disappear.
  const [one, two] = [await find(page, first.name), await find(other, second.name)];
  await Promise.all([one.click(), two.click()]);
  await expect
    .poll(async () => {
      const title = (await activeOf(page.context()))?.title as string;
      const shown = await Promise.all([page, other].map((tab) => working(tab, title).isVisible()));
      return title && shown.every(Boolean);
    })
    .toBe(true);
  const running = await api().get<{ items: Session[] }>("/api/sessions?status=running&limit=1000");
  const mine = (await activeOf(page.context()))!.createdBy;
  // Canvases of the same person run too.
  const isMine = (session: Session) => session.source === "human-session-bridge" && session.createdBy === mine;
  expect(running.items.filter(isMine)).toHaveLength(1);
});

test("a refused start is taken back with a message, and so is a refused stop", async ({ page }) => {
  await signInIdle(page, "operator");
  const task = await taskFor(page, "Gone meanwhile");
  await awake(page, "/today");
  await idle(page).click();
  await finder(page).fill(task.name);
  const option = options(page).filter({ hasText: task.name }).first();
  await expect(option).toBeVisible();
  await api().send("PATCH", `/api/actions/${task.id}`, { status: "archived" });
  await option.click();
  await expect(said(page)).toContainText(/working session was not started\..*archived/);
  await expect(idle(page)).toBeVisible();
  await said(page).getByRole("button", { name: "Dismiss" }).click();
  await expect(said(page)).toBeHidden();
  await begin(page, await taskFor(page, "Not to be stopped"));
  await awake(page, "/today");
  await page.route("**/fn/working-on/stop", (route) => route.abort());
  await stopButton(page).click();
  await expect(said(page)).toContainText("The working session was not stopped.");
  await expect(working(page, "Not to be stopped")).toBeVisible();
});

test("the marker opens by its keys alone, and only where they are free", async ({ page }) => {
  await signInIdle(page, "operator");
  await awake(page, "/sessions");
  await page.keyboard.press("ControlOrMeta+m");
  await page.keyboard.press("Alt+m");
  await expect(marker(page)).toBeHidden();
  await begin(page, await taskFor(page, "Keys"));
  await awake(page, "/sessions");
  const field = page.locator("#filter-q");
  await field.focus();
  await page.keyboard.press("ControlOrMeta+m");
  await expect(field).toBeFocused();
  await page.locator("select").first().focus();
  await page.keyboard.press("ControlOrMeta+m");
  await expect(marker(page)).toBeHidden();
  await page.evaluate(() => {
    document.querySelector("h1")!.setAttribute("contenteditable", "");
    document.querySelector<HTMLElement>("h1")!.focus();
  });
  await page.keyboard.press("ControlOrMeta+m");
  await expect(marker(page)).toBeHidden();
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  const untouched = await page.evaluate(() => {
    const combinations = [{ shiftKey: true, ctrlKey: true }, { altKey: true, ctrlKey: true }, { altKey: true, metaKey: true }, { shiftKey: true, metaKey: true }];
    return combinations.every((held) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "m", code: "KeyM", bubbles: true, cancelable: true, ...held })));
  });
  expect(untouched, "other combinations are the browser's").toBe(true);
  await expect(marker(page)).toBeHidden();
  for (const keys of ["Control+m", "Alt+m"]) {
    await page.keyboard.press(keys);
    await expect(marker(page), keys).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(marker(page)).toBeHidden();
  }
  // The tests run on Linux, where the Meta key belongs to the window manager.
  await page.keyboard.press("Meta+m");
  await expect(marker(page)).toBeHidden();
});

test("keys can be changed, conflicts are named, and the change holds on every page", async ({ page }) => {
  await signInIdle(page, "operator");
  await begin(page, await taskFor(page, "Other keys"));
  await awake(page, "/settings");
  const row = page.locator(".binding", { hasText: "Add a marker" });
  const change = row.getByRole("button", { name: /Change/ });
  await change.click();
  await page.keyboard.press("j");
  await expect(page.getByText("That key is already used: Next row.")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+Shift+y");
  await expect(row.locator("kbd")).toHaveText(["Ctrl", "Shift", "Y"]);
  const next = page.locator(".binding", { hasText: "Go to Sessions" });
  await next.getByRole("button", { name: /Change/ }).click();
  await page.keyboard.press("q");
  await expect(next.locator("kbd")).toHaveText(["q"]);
  await awake(page, "/today");
  await page.keyboard.press("ControlOrMeta+m");
  await page.keyboard.press("Alt+m");
  await expect(marker(page)).toBeHidden();
  await page.keyboard.press("ControlOrMeta+Shift+y");
  await expect(marker(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(marker(page)).toBeHidden();
  await page.keyboard.press("q");
  await expect(page).toHaveURL(/\/sessions$/);
  await awake(page, "/settings");
  await row.getByRole("button", { name: /Reset/ }).click();
  await expect(row.locator("kbd")).toHaveText(["Ctrl", "M", "Alt", "M"]);
});

test("a note that was not recorded is kept, across a reload too, and is recorded once", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Fragile notes"));
  await visit(page, "/today");
  await page.keyboard.press("Alt+m");
  await page.keyboard.press("Enter");
  await expect(marker(page).getByRole("alert")).toHaveText("Write a note first.");
  await page.route("**/fn/working-on/marker", async (route) => {
    // The request arrives, and the response is lost.
    await route.fetch();
    await route.abort();
  });
  await page.keyboard.type("called Acme");
  await page.keyboard.press("Enter");
  await expect(marker(page).getByRole("alert")).toContainText("Not recorded. Your note is kept.");
  await expect(marker(page).getByRole("textbox")).toHaveValue("called Acme");
  await page.unroute("**/fn/working-on/marker");
  await page.reload();
  await awake(page);
  await page.keyboard.press("Alt+m");
  await expect(marker(page).getByRole("textbox")).toHaveValue("called Acme");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Marker recorded.")).toBeVisible();
  const notes = await logOf(session, "human.marker");
  expect(notes.map((event) => event.content)).toEqual([[{ type: "text", text: "called Acme" }]]);
  await postAs(page.context(), "/api/sessions/human/stop", { sessionId: session });
  await page.keyboard.press("Alt+m");
  if (await marker(page).isVisible()) {
    await page.keyboard.type("too late");
    await page.keyboard.press("Enter");
    await expect(marker(page).getByRole("alert")).toContainText("Not recorded. Your note is kept.");
  }
});

test("a marker whose answer is lost is recorded once after an edit that changes nothing", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "A space more"));
  await visit(page, "/today");
  await page.route("**/fn/working-on/marker", async (route) => {
    // The request arrives, and the response is lost.
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await page.keyboard.press("Alt+m");
  await page.keyboard.type("called Acme");
  await page.keyboard.press("Enter");
  await expect(marker(page).getByRole("alert")).toContainText("Not recorded. Your note is kept.");
  await marker(page).getByRole("textbox").press("End");
  await page.keyboard.type(" ");
  await marker(page).getByRole("button", { name: "Record" }).click();
  await expect(page.getByText("Marker recorded.")).toBeVisible();
  const notes = await logOf(session, "human.marker");
  expect(notes.map((event) => event.content)).toEqual([[{ type: "text", text: "called Acme" }]]);
});

test("what is typed while a marker is recorded is kept for the next one", async ({ page }) => {
  await signInIdle(page, "operator");
  const session = await begin(page, await taskFor(page, "Fast notes"));
  await visit(page, "/today");
  let answer = () => {};
  const mayBeAnswered = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/fn/working-on/marker", async (route) => {
    await mayBeAnswered;
    await route.continue();
  }, { times: 1 });
  const isSent = page.waitForRequest("**/fn/working-on/marker");
  await page.keyboard.press("Alt+m");
  await page.keyboard.type("called Acme");
  await page.keyboard.press("Enter");
  await isSent;
  await marker(page).getByRole("textbox").fill("wrote to Bolt");
  answer();
  await expect(page.getByText("Marker recorded.")).toBeVisible();
  await expect(marker(page).getByRole("textbox")).toHaveValue("wrote to Bolt");
  await marker(page).getByRole("textbox").press("Enter");
  await expect(marker(page)).toBeHidden();
  const notes = await logOf(session, "human.marker");
  const texts = ["called Acme", "wrote to Bolt"];
  expect(notes.map((event) => event.content)).toEqual(texts.map((text) => [{ type: "text", text }]));
});

test("axe finds nothing in the picker, the marker, the day and the keys", async ({ page }) => {
  test.slow();
  await signInIdle(page, "operator");
  const task = await taskFor(page, "Looked at by axe");
  // A short page: axe looks at all of it each time.
  await awake(page, "/bundles");
  await idle(page).click();
  await expect(options(page).first()).toBeVisible();
  await expectAccessible(page, "the picker");
  const session = await begin(page, task);
  await visit(page, "/bundles");
  await working(page).click();
  await expect(options(page).first()).toBeVisible();
  await expectAccessible(page, "the picker of who is working");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Alt+m");
  await expect(marker(page)).toBeVisible();
  await expectAccessible(page, "the marker");
  await visit(page, "/working-on");
  await expectAccessible(page, "the day");
  await visit(page, "/settings");
  await expectAccessible(page, "the keys");
  await postAs(page.context(), "/api/sessions/human/stop", { sessionId: session });
});

test("the picker is there in the narrow rail and in the bar of a phone", async ({ page }) => {
  await signInIdle(page, "operator");
  const task = await taskFor(page, `A task with quite a long name ${"and then some ".repeat(8)}`.trim());
  for (const width of [800, 360]) {
    await page.setViewportSize({ width, height: 740 });
    await awake(page, "/today");
    await pick(page, task.name);
    await expect(working(page)).toBeVisible();
    await working(page).click();
    const box = (await page.locator("#working-popover").boundingBox())!;
    expect(box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= 740, JSON.stringify(box)).toBe(true);
    await page.keyboard.press("Escape");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await stopButton(page).click();
    await expect(idle(page)).toBeVisible();
    await expect.poll(() => activeOf(page.context())).toBeNull();
  }
});

test("the shortcut of the marker opens the list of tasks while none is worked on, and says why", async ({ page }) => {
  await signInIdle(page, "operator");
  const task = await taskFor(page, `First ${Date.now().toString(36)}`);
  await awake(page, "/sessions");
  await page.keyboard.press("Control+m");
  await expect(finder(page)).toBeFocused();
  await expect(page.getByText("Choose a task first.")).toBeVisible();
  await finder(page).fill(task.name);
  await options(page).filter({ hasText: task.name }).first().click();
  await expect(working(page, task.name)).toBeVisible();
  await expect.poll(async () => (await activeOf(page.context()))?.title).toBe(task.name);
  await page.keyboard.press("Control+m");
  await expect(marker(page)).toBeVisible();
});
