/** The same done to several sessions and causes: by keyboard, with plain forms, undone, and for axe. */
import { slug } from "../questions";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

/** Queues as many sessions of a new agent. Returns the agent, and the ids of the sessions, oldest first. */
async function queue(count: number) {
  const agent = slug("bulk");
  const action = await api().createAction({ name: `Bulk ${agent}`, agentSlug: agent });
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) ids.push((await api().trigger(action.id)).id);
  return { agent, ids };
}

/** The same, failed with this message. */
async function fail(count: number, message = "The disk is full") {
  const { agent, ids } = await queue(count);
  for (let number = 0; number < count; number += 1) {
    const { session, attempt } = await api("worker").claim(agent);
    await api("worker").fail(session.id, attempt, message);
  }
  return { agent, ids };
}

test("sessions are selected by keyboard and cancelled after a preview", async ({ page }) => {
  const { agent, ids } = await queue(4);
  await signIn(page, "operator");
  await page.goto(`/sessions?q=agent%3A${agent}`);
  await hydrated(page);
  const box = (id: string) => page.locator(`input[name="session"][value="${id}"]`);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(page.getByText("1 selected")).toBeVisible();
  for (const key of ["j", "j", "X"]) await page.keyboard.press(key);
  await expect(page.getByText("3 selected")).toBeVisible();
  await expect(box(ids[0]!), "the row below the range").not.toBeChecked();
  await page.keyboard.press("x");
  await expect(page.getByText("2 selected")).toBeVisible();
  await box(ids[0]!).click({ modifiers: ["Shift"] });
  await expect(page.getByText("4 selected")).toBeVisible();
  await page.keyboard.press("*");
  const all = page.getByRole("checkbox", { name: /^All that match/ });
  await expect(all).toBeChecked();
  await page.keyboard.press("*");
  await expect(all).not.toBeChecked();
  // A row that is updated stays selected.
  await api("worker").claim(agent);
  await expect(page.locator(`tr[data-session-id="${ids[0]}"]`)).toContainText("Running");
  await expect(box(ids[0]!)).toBeChecked();
  await box(ids[3]!).uncheck();
  await expectAccessible(page, "the list with a selection");
  await page.getByRole("button", { name: "Cancel…" }).click();
  await expect(page.getByText("3 sessions: 3 will be cancelled.")).toBeVisible();
  await hydrated(page);
  await expectAccessible(page, "the preview");
  await page.getByRole("button", { name: "Cancel 3 sessions" }).click();
  await expect(page.getByText("3 sessions: 3 are cancelled.")).toBeVisible();
  await page.reload();
  await expect(page.getByText("3 sessions: 3 are cancelled.")).toBeVisible();
  await hydrated(page);
  await expectAccessible(page, "what happened");
  await page.getByRole("link", { name: "Back to the list" }).click();
  await expect(page).toHaveURL(new RegExp(`/sessions\\?q=agent%3A${agent}$`));
  expect((await api().session(ids[3]!)).status).toBe("pending");
});

test("failed sessions run again and the new ones are cancelled by undo @nojs", async ({ page }) => {
  const { agent, ids } = await fail(3);
  await signIn(page, "operator");
  await page.goto(`/sessions?q=agent%3A${agent}`);
  await page.locator(`input[name="session"][value="${ids[1]}"]`).check();
  await page.getByRole("button", { name: "Run again…" }).click();
  await expect(page.getByText("1 session: 1 will be run again.")).toBeVisible();
  await page.getByRole("link", { name: "Back to the list" }).click();
  await page.getByRole("checkbox", { name: /^All that match/ }).check();
  await page.getByRole("button", { name: "Run again…" }).click();
  await page.getByRole("button", { name: "Run 3 again" }).click();
  await expect(page.getByText("3 sessions: 3 are run again.")).toBeVisible();
  await page.getByRole("button", { name: "Undo: cancel 3 new sessions" }).click();
  await expect(page.getByText("3 sessions: 3 are cancelled.")).toBeVisible();
});

test("selected causes are marked as seen, and opened again @nojs", async ({ page }) => {
  const word = () => Array.from({ length: 12 }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join("");
  const messages = [`the ${word()} is full`, `the ${word()} is gone`];
  for (const message of messages) await fail(1, message);
  await signIn(page, "operator");
  const select = async () => {
    for (const message of messages) await page.getByRole("checkbox", { name: `Select ${message}` }).check();
  };
  await page.goto("/failures?window=24h&state=open");
  await select();
  await page.getByRole("button", { name: "Mark selected as seen" }).click();
  await expect(page.getByText("The causes are in the list of their new state")).toBeVisible();
  for (const message of messages) await expect(page.getByText(message)).toHaveCount(0);
  await page.goto("/failures?window=24h&state=acknowledged");
  await select();
  await page.getByRole("button", { name: "Open selected again" }).click();
  for (const message of messages) await expect(page.getByText(message)).toHaveCount(0);
});

test("selected sessions are tagged, and one gets another tag on its own page @nojs", async ({ page }) => {
  const { agent, ids } = await queue(3);
  await signIn(page, "operator");
  await page.goto(`/sessions?q=agent%3A${agent}`);
  for (const id of ids.slice(0, 2)) await page.locator(`input[name="session"][value="${id}"]`).check();
  await page.getByRole("button", { name: "Tag…" }).click();
  await expect(page.getByText("2 sessions are selected.")).toBeVisible();
  await expectAccessible(page, "the choice of a tag");
  await page.getByLabel("Tag", { exact: true }).fill("Needs a look");
  await page.getByRole("button", { name: "Add the tag…" }).click();
  await expect(page.getByText("2 sessions: 2 will be tagged needs-a-look.")).toBeVisible();
  await page.getByRole("button", { name: "Tag 2 sessions" }).click();
  await expect(page.getByText("2 sessions: 2 are tagged needs-a-look.")).toBeVisible();
  await page.goto(`/sessions?q=tag%3Aneeds-a-look+agent%3A${agent}`);
  await expect(page.locator("tr[data-session-id]")).toHaveCount(2);
  await page.goto(`/sessions/${ids[0]}/labels`);
  await expectAccessible(page, "tags and assignee of a session");
  await page.getByLabel("Tags").fill("urgent");
  await page.getByLabel("Assigned to").selectOption({ index: 1 });
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Tags and assignee saved.")).toBeVisible();
  await expect(page.getByRole("link", { name: "urgent" })).toBeVisible();
  await page.goto(`/sessions?q=tag%3Aneeds-a-look+agent%3A${agent}`);
  await expect(page.locator("tr[data-session-id]")).toHaveCount(1);
});
