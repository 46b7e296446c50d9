/** Training data: selected, previewed, exported and downloaded, with and without scripts. */
import { readFile } from "node:fs/promises";
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, signIn, test } from "../support";

interface Interaction {
  id: string;
  response: string;
}

/** Creates an answer with a reviewer's label and waits until the server has captured it. */
async function answered(name: string): Promise<string> {
  const agent = `exporter-${name.replace(" ", "-")}`;
  const { id } = await api().post<{ id: string }>("/api/sessions", { sessionType: "agent", agentSlug: agent, input: `Which port, ${name}?` });
  const { attempt } = await api().claim(agent);
  await api().complete(id, attempt, `5432 for ${name}, token=sk-ant-api03-${"a".repeat(95)}`);
  let found: Interaction | undefined;
  await expect
    .poll(async () => {
      const page = await api().get<{ items: Interaction[] }>(`/api/interactions?sessionId=${id}`);
      return (found = page.items[0])?.id;
    })
    .toBeTruthy();
  await api().post(`/api/interactions/${found!.id}/feedback`, { feedback: "positive" });
  return id;
}

/** Presses a button of the form. A workspace makes one export at a time, and other specs export too. */
async function begin(page: Page, button: "Preview" | "Export") {
  await expect(async () => {
    await page.goto("/export");
    await page.locator('select[name="minFeedback"]').selectOption("positive");
    await page.getByRole("button", { name: button, exact: true }).click();
    await expect(page).toHaveURL(/\/exports\/[0-9a-f-]{36}/, { timeout: 2_000 });
  }).toPass();
}

test("an operator looks at training data before it is written, writes it and takes it along @nojs", async ({ page }, info) => {
  // A second attempt must not find the data of the first.
  const name = `${info.project.name} ${info.retry}`;
  await answered(name);
  await signIn(page, "operator");
  await begin(page, "Preview");
  await expect(page.getByText("No file was written")).toBeVisible();
  await expect(page.getByRole("heading", { name: "The first rows" })).toBeVisible();
  const pairs = page.locator(".export-pairs");
  await expect(pairs).toContainText("Prompt");
  await expect(pairs).not.toContainText("sk-ant-api03");
  await expectAccessible(page);

  // The button repeats the selection.
  await expect(async () => {
    await page.getByRole("button", { name: /^Export \d/ }).click();
    await expect(page.getByText("The file is ready.")).toBeVisible({ timeout: 10_000 });
  }).toPass();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: /^Download sft.jsonl/ }).click()]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  const ours = lines.filter((line) => line.includes(`5432 for ${name}`));
  expect(ours).toHaveLength(1);
  expect(ours[0]).toContain("[REDACTED:");
  const row = JSON.parse(ours[0]!) as { messages: { role: string }[] };
  expect(row.messages.map((message) => message.role)).toEqual(["user", "assistant"]);

  await page.goto("/export");
  await expect(page.getByRole("link", { name: "SFT as JSON lines", exact: true }).first()).toBeVisible();
  await expectAccessible(page);
});

test("tasks are chosen by slug, and one that is not there is named @nojs", async ({ page }, info) => {
  const slug = `export-${info.project.name}-${info.retry}-${Date.now()}`;
  await api().post("/api/actions", { name: "Find the port", slug, agentSlug: "exporter" });
  await signIn(page, "operator");
  await page.goto("/export");
  const tasks = page.getByRole("textbox", { name: "Tasks" });
  await tasks.fill(`${slug}, no-such-task`);
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await expect(page.getByText('"no-such-task" is neither the slug nor the id of a task of this workspace').first()).toBeVisible();
  // What was typed is still there.
  await expect(tasks).toHaveValue(`${slug}, no-such-task`);
  await expectAccessible(page);
  await expect(async () => {
    await page.goto("/export");
    await tasks.fill(slug);
    await page.getByRole("button", { name: "Preview", exact: true }).click();
    await expect(page).toHaveURL(/\/exports\/[0-9a-f-]{36}/, { timeout: 2_000 });
  }).toPass();
  await expect(page.getByText("No file was written")).toBeVisible();
});

test("members and reviewers export nothing, and nobody finds another workspace's export", async ({ page }) => {
  await answered("private");
  await signIn(page, "operator");
  await begin(page, "Preview");
  const address = page.url();
  await page.context().clearCookies();
  await signIn(page, "member");
  for (const path of ["/export", address]) {
    expect((await page.goto(path))!.status()).toBe(403);
  }
});
