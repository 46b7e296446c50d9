/** Memory: documents written, compared, reverted and searched by forms alone; conflicts, hostile text, axe. */
import { type Page } from "@playwright/test";
import { api, expect, expectAccessible, signIn, test } from "../support";

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
    await page.goto(path);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await expectAccessible(page, path);
  }
});
