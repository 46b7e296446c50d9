/** Links to sessions: a member makes and revokes one, and whoever has it reads the session. */
import { type Page } from "@playwright/test";
import { slug } from "../questions";
import { api, expect, expectAccessible, signIn, test } from "../support";

/** A session with a message and a call of a tool. */
async function talk() {
  const agent = slug("share");
  const action = await api().createAction({ name: `Shared ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  const part = (text: string) => [{ type: "text", text }];
  const input = { command: `echo ${"long ".repeat(80)}` };
  await api().append(id, attempt, [
    { type: "agent.message", content: part("The **offer** is ready.") },
    { type: "agent.tool_call", content: [{ type: "tool-call", toolCallId: "a", toolName: "run", input }] },
    { type: "agent.tool_result", content: [{ type: "tool-result", toolCallId: "a", toolName: "run", output: "ok" }] },
  ]);
  return { id, attempt };
}

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

test("a session is shared by a link, read without an account, and not after the link is revoked @nojs", async ({ page }) => {
  const { id, attempt } = await talk();
  await signIn(page, "admin");
  await page.goto(`/sessions/${id}`);
  await page.getByRole("link", { name: "Share", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Whoever has the link sees" })).toBeVisible();
  await expectAccessible(page, "what would be shared");
  await page.getByLabel("The link works for").selectOption("1");
  await page.getByRole("button", { name: "Create link" }).click();
  const address = page.locator("#new-link-url");
  await expect(address).toHaveValue(/\/s\/sbv_/);
  await expect(address).toBeFocused();
  const url = await address.inputValue();
  await expectAccessible(page, "a new link");
  await page.reload();
  await expect(page.locator("#new-link")).toHaveCount(0);

  const context = await page.context().browser()!.newContext({ viewport: { width: 360, height: 800 } });
  const reader = await context.newPage();
  await reader.goto(url);
  await expect(reader.getByRole("heading", { name: "Someone shared a page with you" })).toBeVisible();
  await expect(reader.getByText("offer")).toHaveCount(0);
  await expectAccessible(reader, "the page that asks");
  await reader.getByRole("button", { name: "Show the page" }).click();
  await expect(reader).toHaveURL(/\/shared\/[0-9a-f-]+$/);
  await expect(reader.getByText("The offer is ready.")).toBeVisible();
  await reader.locator("summary", { hasText: "Call of run" }).click();
  await expect(reader.getByText("ok", { exact: true })).toBeVisible();
  expect(await fits(reader)).toBe(true);
  await expectAccessible(reader, "the shared session");
  await api().complete(id, attempt, "It costs 12.");
  await reader.reload();
  await expect(reader.getByRole("region", { name: "Result" })).toContainText("12");

  await page.goto("/settings/share-links");
  const row = page.locator("tbody tr").filter({ has: page.locator(`a[href="/sessions/${id}"]`) });
  await expect(row).toContainText("1 time");
  await expectAccessible(page, "the list of links");
  await row.getByRole("button", { name: /Revoke/ }).click();
  await expect(page.getByText("Link revoked.")).toBeVisible();
  await expect(row).toContainText("revoked");
  expect((await reader.reload())!.status()).toBe(404);
  await expect(reader.getByRole("heading", { name: "There is nothing to show" })).toBeVisible();
  await expectAccessible(reader, "the page of a link that has ended");
  await context.close();
});
