/** The rating of a session: asked after the session has completed, answered with one click, and can be undone. */
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, signIn, test } from "../support";

async function running(name: string) {
  const operator = api();
  const agent = `rated-${name}-${Date.now().toString(36)}`;
  const action = await operator.createAction({ name: `Rated ${agent}`, agentSlug: agent });
  const { id } = await operator.trigger(action.id);
  const { attempt } = await operator.claim(agent, 600);
  return { id, attempt };
}

const own = (id: string) => `/api/sessions/${id}/feedback`;

/** The rating of the signed-in person, read from the API. */
async function ratingOf(page: Page, id: string) {
  const response = await page.request.get(own(id));
  return ((await response.json()) as { label: string | null }).label;
}

test("a person is asked when the work has ended, answers, takes it back and waves it aside @nojs", async ({ page }, info) => {
  const scripts = info.project.name === "js";
  const { id, attempt } = await running(info.project.name);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  if (scripts) await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  const question = page.getByText("Did this help?");
  await expect(page.locator("#summary")).toContainText(/running/i);
  await expect(question).toHaveCount(0);

  await api().complete(id, attempt);
  // With scripts the open page asks; without scripts the next page load does.
  if (!scripts) await page.reload();
  await expect(question).toBeVisible();
  const press = async (key: string, button: string) =>
    scripts ? page.keyboard.press(key) : page.locator("#rating").getByRole("button", { name: button }).click();

  await press("y", "Yes");
  await expect(page.locator("#rating")).toContainText("Thank you. You said that this helped.");
  await expect(question).toHaveCount(0);
  expect(await ratingOf(page, id)).toBe("positive");
  if (scripts) await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  await press("z", "Undo");
  await expect(question).toBeVisible();
  expect(await ratingOf(page, id)).toBeNull();

  for (const [key, button, label, words] of [
    ["n", "No", "negative", "did not help"],
    ["s", "Skip", "skip", "skipped"],
  ] as const) {
    if (scripts) await expect(page.locator("html")).toHaveAttribute("data-ready", "");
    await press(key, button);
    await expect(page.locator("#rating")).toContainText(words);
    expect(await ratingOf(page, id)).toBe(label);
    if (scripts) await expect(page.locator("html")).toHaveAttribute("data-ready", "");
    await press("z", "Undo");
    await expect(question).toBeVisible();
  }

  if (scripts) await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  await press("d", "Dismiss the question");
  await expect(page.locator("#rating")).toHaveCount(0);
  await page.reload();
  await expect(page.locator("#summary")).toContainText(/completed/i);
  await expect(page.locator("#rating")).toHaveCount(0);
  expect(await ratingOf(page, id)).toBeNull();

  // Another person is still asked.
  await page.context().clearCookies({ name: /session/ });
  await signIn(page, "reviewer");
  await page.goto(`/sessions/${id}`);
  await expect(question).toBeVisible();
});

test("the question has no axe violation and fits a phone", async ({ page }) => {
  const { id, attempt } = await running("looks");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  for (const answered of [false, true]) {
    await page.goto(`/sessions/${id}`);
    if (answered) await page.locator("#rating").getByRole("button", { name: "Yes" }).click();
    await expect(page.locator("#rating")).toBeVisible();
    await expectAccessible(page);
  }
});

test("keys that answer are listed, and letters typed into a field answer nothing", async ({ page }) => {
  const { id, attempt } = await running("keys");
  await api().complete(id, attempt);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("yns");
  await page.keyboard.press("Escape");
  expect(await ratingOf(page, id)).toBeNull();
  await page.keyboard.press("?");
  for (const words of ["Rating: it helped", "Rating: it did not help", "Rating: skip the question", "Rating: undo it"]) {
    await expect(page.getByRole("dialog")).toContainText(words);
  }
});
