/** What is pressed in the picker before it can answer: before its list has loaded, and before its tasks have come. */
import { type Page } from "@playwright/test";
import { expect, test } from "../support";
import { activeOf, awake, finder, holdBackTasks, idle, options, signInIdle, taskFor, working } from "../working";

/** Holds back the list of the picker, which is loaded late, until the returned function is called. */
async function holdBackChooser(page: Page) {
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route("**/pkg/task_chooser.*.wasm", async (route) => {
    await released;
    await route.continue();
  });
  return () => release();
}

/** Two tasks that a text finds: the first and the second row of the list. */
async function twoTasks(page: Page, text: string) {
  const second = await taskFor(page, `Early beta ${text}`);
  return [await taskFor(page, `Early alpha ${text}`), second] as const;
}

test("keys pressed before the list of the picker has loaded move and choose once it has", async ({ page }) => {
  await signInIdle(page, "operator");
  const text = `k${Date.now().toString(36)}`;
  const [, second] = await twoTasks(page, text);
  const release = await holdBackChooser(page);
  await awake(page, "/sessions");
  await idle(page).focus();
  await page.keyboard.press("Enter");
  await expect(finder(page)).toBeFocused();
  await page.keyboard.type(text);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(finder(page)).toHaveValue(text);
  await expect(options(page)).toHaveCount(0);
  release();
  await expect(working(page, second.name)).toBeVisible();
  await expect.poll(async () => (await activeOf(page.context()))?.title).toBe(second.name);
});

test("keys pressed before the list of the picker has loaded wait for its tasks, and later ones wait behind them", async ({ page }) => {
  await signInIdle(page, "operator");
  const text = `w${Date.now().toString(36)}`;
  const [, second] = await twoTasks(page, text);
  const [release, releaseTasks] = [await holdBackChooser(page), await holdBackTasks(page)];
  await awake(page, "/sessions");
  await idle(page).click();
  await page.keyboard.type(text);
  await page.keyboard.press("End");
  release();
  await expect(options(page)).toHaveText([`Create new task “${text}”`]);
  await page.keyboard.press("ArrowUp");
  await expect(page.locator("#working-list [aria-selected=true]")).toHaveText(`Create new task “${text}”`);
  releaseTasks();
  await expect(page.locator("#working-list [aria-selected=true]")).toHaveText(second.name);
});

test("text that follows a key makes it void before the list of the picker has loaded, and stays in its order", async ({ page }) => {
  await signInIdle(page, "operator");
  const text = `v${Date.now().toString(36)}`;
  const [first] = await twoTasks(page, text);
  const release = await holdBackChooser(page);
  await awake(page, "/sessions");
  await idle(page).click();
  await page.keyboard.type(text.slice(0, 3));
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.type(text.slice(3));
  release();
  await expect(options(page).filter({ hasText: first.name })).toBeVisible();
  await expect(finder(page)).toHaveValue(text);
  await expect(page.locator("#working-list [aria-selected=true]")).toHaveText(first.name);
  expect(await activeOf(page.context())).toBeNull();
});

test("a key pressed before the list of the picker has loaded is forgotten with the popover that it was pressed in", async ({ page }) => {
  await signInIdle(page, "operator");
  const text = `f${Date.now().toString(36)}`;
  const [first] = await twoTasks(page, text);
  const release = await holdBackChooser(page);
  await awake(page, "/sessions");
  await idle(page).click();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await expect(finder(page)).toBeHidden();
  await idle(page).click();
  await expect(finder(page)).toBeFocused();
  release();
  await expect(options(page).filter({ hasText: first.name })).toBeVisible();
  expect(await activeOf(page.context())).toBeNull();
});

test("tasks that have all come are not read again, although a letter was typed before they came", async ({ page }) => {
  await signInIdle(page, "member");
  const text = `r${Date.now().toString(36)}`;
  const [first, second] = await twoTasks(page, text);
  const release = await holdBackTasks(page);
  let [reads, answers] = [0, 0];
  page.on("request", (request) => void (request.url().includes("/fn/working-on/tasks") && reads++));
  page.on("requestfinished", (request) => void (request.url().includes("/fn/working-on/tasks") && answers++));
  await awake(page, "/today");
  await idle(page).click();
  await finder(page).pressSequentially(text.slice(0, 1));
  await expect.poll(() => reads).toBe(2);
  release();
  await expect.poll(() => answers).toBe(2);
  // The network has an answer before the page has read it.
  await expect(options(page).filter({ hasText: first.name })).toBeVisible();
  await finder(page).fill(`alpha ${text}`);
  await expect(options(page).first()).toHaveText(first.name);
  await finder(page).fill(`beta ${text}`);
  await expect(options(page).first()).toHaveText(second.name);
  expect(reads).toBe(2);
});
