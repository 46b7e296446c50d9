/** Memory: documents written, compared, reverted and searched by forms alone; conflicts, hostile text, axe. */
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

const HOSTILE = "<script>window.hacked = 1</script>\n\n![x](http://evil.test/x.png)\n\n" + "x".repeat(400) + "\n\nעברית 👩‍👩‍👧\n";

/** Writes a document through the API, at its first version. */
const write = (agent: string, path: string, text: string, baseVersion = 0) =>
  api().send("PUT", `/api/agents/${agent}/memory/document?path=${encodeURIComponent(path)}`, { baseVersion, text });

async function open(page: Page, summary: string) {
  const details = page.locator("details", { has: page.locator("summary", { hasText: summary }) });
  if (!(await details.evaluate((d) => (d as HTMLDetailsElement).open))) await details.locator("summary").first().click();
}

test("a document is made, previewed, changed and reverted by forms alone @nojs", async ({ page }, info) => {
  const agent = `keeper-${info.project.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${info.retry}`;
  await signIn(page, "operator");
  await page.goto(`/agents/${agent}/memory`);
  await expect(page.getByText("remembers nothing yet")).toBeVisible();
  await open(page, "New document");
  await page.getByLabel("Path").fill("topics/garden.md");
  await page.getByRole("textbox", { name: "Text" }).fill("# Garden\n\nInes likes tea.\n");
  await page.getByRole("button", { name: "Create" }).click();
  await expect(page.locator(".prose")).toContainText("Ines likes tea");

  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Text" }).fill("# Garden\n\nInes likes coffee.\n");
  await page.getByRole("button", { name: "Preview" }).click();
  await expect(page.locator(".memory-diff ins")).toHaveText("coffee.");
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await page.getByRole("link", { name: "History" }).click();
  await expect(page.locator(".memory-diff del")).toHaveText("tea.");
  await page.getByRole("button", { name: /Revert to this version 1/ }).click();
  await expect(page.locator(".prose")).toContainText("tea");
});

test("a change that somebody else overtook shows both sides and keeps what was typed @nojs", async ({ page }, info) => {
  const agent = `race-${info.project.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${info.retry}`;
  await write(agent, "topics/a.md", "one\n");
  await signIn(page, "operator");
  await page.goto(`/agents/${agent}/memory?path=topics/a.md&view=edit`);
  await page.getByRole("textbox", { name: "Text" }).fill("mine\n");
  await write(agent, "topics/a.md", "theirs\n", 1);
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await expect(page.getByRole("alert")).toContainText("while you were typing");
  await expect(page.locator(".memory-diff del")).toHaveText("theirs");
  await expect(page.getByRole("textbox", { name: "Text" })).toHaveValue("mine\n");
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await expect(page.locator(".prose")).toContainText("mine");
});

test("what one session wrote is shown and reverted in all documents by one form @nojs", async ({ page }, info) => {
  const agent = `poisoned-${info.project.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${info.retry}`;
  const { id: session } = await api().post<{ id: string }>("/api/threads", { agent, message: "Remember the back door." });
  const from = (path: string, baseVersion: number, text: string, line: number) =>
    api().send("PUT", `/api/agents/${agent}/memory/document?path=${encodeURIComponent(path)}`, {
      baseVersion,
      text,
      evidence: [{ line, session, sequence: 2 }],
    });
  const doors = "# Doors\n\n- The front door is red\n";
  await write(agent, "topics/doors.md", doors);
  await from("topics/doors.md", 1, `${doors}- The back door is open\n`, 4);
  await from("topics/whole.md", 0, "- The back door is open\n", 1);
  await page.setViewportSize({ width: 360, height: 800 });
  await signIn(page, "operator");
  await page.goto(`/agents/${agent}/memory?path=topics/doors.md&view=origin`);
  // The turn that a line comes from is in the transcript to which it leads.
  await page.locator(`.memory-origin a[href*="${session}"]`).first().click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${session}\\?before=102#seq-2$`));
  await expect(page.locator("#seq-2")).toContainText("Remember the back door.");
  await page.goBack();
  await page.locator(`a[href$="/memory/session?id=${session}"]`).first().click();
  await expect(page.getByRole("region", { name: "topics/doors.md" }).locator("[data-change=removed]")).toContainText("back door");
  await expect(page.getByRole("region", { name: "topics/whole.md" })).toContainText("nothing is left");
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  await expectAccessible(page);
  await page.getByRole("button", { name: /^Revert/ }).click();
  await expect(page).toHaveURL(new RegExp(`/agents/${agent}/memory`));
  await page.goto(`/agents/${agent}/memory?path=topics/doors.md`);
  await expect(page.locator(".prose")).toContainText("front door");
  await expect(page.locator(".prose")).not.toContainText("back door");
  await page.goto(`/agents/${agent}/memory/session?id=${session}`);
  await expect(page.getByText("No line of this memory comes from this session.")).toBeVisible();
});

test("a run is asked for from a day on, and a day that cannot be is refused at its field @nojs", async ({ page }, info) => {
  const agent = `since-${info.project.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${info.retry}`;
  await api().post("/api/threads", { agent, message: "I like ships." });
  await signIn(page, "operator");
  await page.goto(`/agents/${agent}/memory/runs`);
  const day = page.getByLabel("Also read sessions since (UTC)");
  await day.fill("2999-01-01");
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(day).toHaveAccessibleDescription(/in the future/);
  await expect(day).toHaveValue("2999-01-01");
  await expectAccessible(page);
  await day.fill("2020-01-31");
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.getByText("Added 1 session that the writer had not read.")).toBeVisible();
  await expect(day).toHaveValue("");
});

test("a document is found by its words, and what was erased is said and not shown @nojs", async ({ page }, info) => {
  const name = `${info.project.name.toLowerCase().replace(/[^a-z]+/g, "")}${info.retry}`;
  const [agent, word, person] = [`eraser-${name}`, `quince${name}`, `Zed${name}`];
  await write(agent, "topics/fruit.md", `# Fruit\n\n- A ${word} is ripe\n- ${person} picks it\n`);
  await api("admin").post("/api/memory/forget", { person: `mail-${name}`, names: [person], apply: true });
  await signIn(page, "admin");
  await page.goto(`/memory?q=${word}`);
  const found = page.locator(".history-item", { hasText: `A ${word} is ripe` });
  await expect(found).toContainText(agent);
  await expect(page.locator(".history-item")).toHaveCount(1);
  await found.getByRole("link", { name: "topics/fruit.md" }).click();
  await expect(page.locator(".prose")).toContainText(word);
  await expect(page.locator(".prose")).not.toContainText(person);
  await page.getByRole("link", { name: "History" }).click();
  await expect(page.getByText("The text of version 1 was erased, so what changed is not known.")).toBeVisible();
  await expect(page.locator(".history-item", { hasText: "Its text was erased." })).toHaveCount(1);
  await expect(page.locator("main")).not.toContainText(person);

  await page.getByRole("link", { name: "Text", exact: true }).click();
  await open(page, "Rename, delete or erase");
  await page.getByLabel(/^Type .erase./).fill("erase");
  await page.getByRole("button", { name: "Erase all versions" }).click();
  await expect(page.getByText("Erased. The digests of its texts are kept.")).toBeVisible();
  await page.getByRole("link", { name: "An erased document" }).first().click();
  await expect(page.getByRole("heading", { name: "An erased document" })).toBeVisible();
  await expect(page.getByText("No reason was recorded.")).toBeVisible();
  await expect(page.locator("main")).not.toContainText(word);
  expect((await page.goto(`/agents/${agent}/memory?path=topics/fruit.md`))?.status()).toBe(404);
  await page.goto(`/memory?q=${word}`);
  await expect(page.getByText("No document has one of these words.")).toBeVisible();
});

test("a person rates a memory in a conversation and in its transcript, and sees it at the line @nojs", async ({ page }, info) => {
  const scripts = info.project.name === "js";
  const agent = `rated-memory-${info.project.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${info.retry}`;
  await write(agent, "topics/launch.md", "# Launch\n\n- The launch is on Friday\n");
  await api().createAction({ name: `Launch ${agent}`, agentSlug: agent });
  await signIn(page, "operator");
  await page.goto("/chat");
  await page.locator('select[name="agent"]').selectOption(agent);
  await page.locator('textarea[name="message"]').fill("When is the launch?");
  await page.getByRole("button", { name: "Start conversation" }).click();
  await expect(page).toHaveURL(/\/chat\/[0-9a-f-]{36}/);
  const id = page.url().match(/chat\/([0-9a-f-]{36})/)![1]!;
  const { attempt } = await api().claim(agent, 600);
  await api().append(id, attempt, [{ type: "agent.message", content: [{ type: "text", text: "On Friday." }] }]);
  await api().yield(id, attempt, "idle");

  /** The ratings of the only memory: their mean and number. */
  const ratings = async () => {
    const listed = await api().get<{ items: { agent_relevance_score: number; agent_feedback_count: number }[] }>(`/api/sessions/${id}/memories`);
    return listed.items.map((one) => [one.agent_relevance_score, one.agent_feedback_count]);
  };
  await page.goto(`/chat/${id}`);
  await hydrated(page);
  const given = page.locator(".message", { hasText: "Rate 1 memory" });
  await given.locator("summary").click();
  await expect(given).toContainText("The launch is on Friday");
  if (scripts) await page.locator("#composer textarea").fill("and where");
  const useful = given.getByRole("button", { name: /^Useful memory mem_/ });
  await useful.focus();
  await page.keyboard.press("Enter");
  if (scripts) {
    await expect(useful).toHaveAttribute("aria-pressed", "true");
    await expect(page.locator("#composer textarea")).toHaveValue("and where");
  } else {
    await expect(page).toHaveURL(new RegExp(`/chat/${id}$`));
  }
  expect(await ratings()).toEqual([[1, 1]]);

  await page.goto(`/sessions/${id}`);
  const row = page.locator("details", { has: page.locator("summary", { hasText: "Rate 1 memory" }) }).last();
  await row.locator("summary").first().click();
  await row.getByRole("button", { name: /^Harmful memory mem_/ }).click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${id}\\?before=\\d+#seq-\\d+$`));
  expect(await ratings(), "the last rating of a person counts").toEqual([[-1, 1]]);

  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(`/agents/${agent}/memory?path=topics/launch.md&view=usefulness`);
  const line = page.locator(".history-item", { hasText: "The launch is on Friday" });
  await expect(line).toContainText("Too few figures to tell");
  await line.locator("summary", { hasText: "1 rating in 1 session: -1.00 on average" }).click();
  await expect(line.locator(`details[open] a[href^="/sessions/${id}?before="]`)).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  await expectAccessible(page);
});

test("pages of memory hold hostile text and please axe in both themes and at both widths", async ({ page }, info) => {
  test.slow();
  const agent = `hostile-${info.project.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${info.retry}`;
  await write(agent, "topics/hostile.md", HOSTILE);
  await signIn(page, "operator");
  for (const path of [
    "/memory?q=hostile",
    "/agents",
    `/agents/${agent}`,
    `/agents/${agent}/memory`,
    `/agents/${agent}/memory?path=topics/hostile.md`,
    `/agents/${agent}/memory?path=topics/hostile.md&view=history`,
    `/agents/${agent}/memory?path=topics/hostile.md&view=origin`,
    `/agents/${agent}/memory?path=topics/hostile.md&view=edit`,
  ]) {
    expect((await page.goto(path))?.status(), path).toBe(200);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await expectAccessible(page, path);
  }
});
