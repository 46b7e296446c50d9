/** What tools were given and returned, as a transcript shows it: text, colours, changes of files, tables and pictures. */
import type { Page } from "@playwright/test";
import { api, expect, expectAccessible, hydrated, signIn, test } from "../support";

const ESC = "\u001b";
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PATCH = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n-let a = 1;\n+let a = 2;\n // end";
const TABLE = "| Module | Lines |\n|:--|--:|\n| module | 1,204 |\n| other | 880 |";

const call = (id: string, toolName: string, input: object) => ({ type: "agent.tool_call", content: [{ type: "tool-call", toolCallId: id, toolName, input }] });
const result = (id: string, toolName: string, output: unknown) => ({ type: "agent.tool_result", content: [{ type: "tool-result", toolCallId: id, toolName, output }] });

/** Creates an ended session whose log has these events. */
async function logged(events: object[]) {
  const agent = `tools-${Date.now().toString(36)}-${Math.round(Math.random() * 1e6)}`;
  const action = await api().createAction({ name: `Tools ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agent, 600);
  await api().append(id, attempt, events as never);
  await api().complete(id, attempt);
  return id;
}

const tool = (page: Page, name: string) => page.locator("details.tool", { has: page.locator(".tool-name", { hasText: name }) });

async function open(page: Page, id: string) {
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
}

test("the output of a program has its lines and colours, and no other control sequence", async ({ page }) => {
  const output = { type: "text", value: `${ESC}[31merror${ESC}[0m[E0382]: moved\n${ESC}]0;title\u0007  --> src/a.rs` };
  const id = await logged([call("a", "cargo", { command: "cargo test\ncargo fmt" }), result("a", "cargo", output)]);
  await open(page, id);
  await expect(tool(page, "cargo").locator(".tool-outcome")).toContainText("error[E0382]: moved --> src/a.rs");
  await tool(page, "cargo").locator("summary").first().click();
  const shown = tool(page, "cargo").locator(".tool-answer pre");
  expect(await shown.textContent()).toBe("error[E0382]: moved\n  --> src/a.rs");
  await expect(shown.locator(".ansi-1")).toHaveText("error");
  expect(await tool(page, "cargo").locator(".tool-side pre").first().textContent()).toBe("cargo test\ncargo fmt");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page, `output of tools, ${colorScheme}`);
  }
});

test("every colour of terminals can be read in both themes", async ({ page }) => {
  const codes = [...Array(8).keys()].flatMap((n) => [30 + n, 40 + n, 90 + n, 100 + n]).concat(1, 2, 3, 4, 7, 9);
  const value = codes.map((code) => `${ESC}[${code}mcolour ${code}${ESC}[0m`).join("\n") + `\n${ESC}[34;43mboth${ESC}[0m`;
  const id = await logged([call("a", "colours", {}), result("a", "colours", { type: "text", value })]);
  await open(page, id);
  await tool(page, "colours").locator("summary").first().click();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessible(page, `colours, ${colorScheme}`);
  }
});

test("changes of files are marked, escapes of JSON are decoded, and pictures are shown", async ({ page }) => {
  const mail = JSON.parse('{"text":"Dear Kim, \\u2026 \\u00fc"}') as object;
  const shot = { type: "content", value: [{ type: "text", text: "the page" }, { type: "media", mediaType: "image/png", data: PIXEL }] };
  const id = await logged([
    call("a", "patch", { patch: PATCH }), result("a", "patch", "done"),
    call("b", "send_mail", mail), result("b", "send_mail", { ok: true, id: 7 }),
    call("c", "screenshot", {}), result("c", "screenshot", shot),
  ]);
  await open(page, id);
  await expect(tool(page, "send_mail").locator(".tool-args")).toContainText("Dear Kim, … ü");
  await expect(tool(page, "send_mail").locator(".tool-outcome")).toContainText("ok: true, id: 7");
  await page.getByRole("button", { name: "Unfold all" }).click();
  await expect(tool(page, "patch").locator(".diff-added")).toHaveText("+let a = 2;");
  await expect(tool(page, "patch").locator(".diff-removed")).toHaveText("-let a = 1;");
  const picture = tool(page, "screenshot").locator("img");
  await expect(picture).toBeVisible();
  await expect.poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(1);
  await expect(tool(page, "screenshot")).toContainText("PNG, 70 bytes");
  const address = (await picture.getAttribute("src"))!;
  const answer = await page.request.get(address);
  expect([answer.status(), answer.headers()["content-type"]]).toEqual([200, "image/png"]);
  for (const wrong of [address.replace(/.$/, (c) => (c === "0" ? "1" : "0")), address.replace("/pictures/", "/pictures/9"), address.replace(id, "01890a5d-ac96-774b-bcce-b302099a8057")]) {
    expect((await page.request.get(wrong)).status(), wrong).toBe(404);
  }
});

test("cells of a table keep their words and their alignment, and lines of a message stay lines", async ({ page }) => {
  const message = (text: string) => ({ type: "agent.message", content: [{ type: "text", text }] });
  const id = await logged([message(TABLE), message("one\ntwo")]);
  await page.setViewportSize({ width: 360, height: 800 });
  await open(page, id);
  const cells = await page.locator(".prose td").evaluateAll((all) => all.map((cell) => [cell.getClientRects()[0]!.height < 40, getComputedStyle(cell).textAlign]));
  expect(cells).toEqual([[true, "start"], [true, "right"], [true, "start"], [true, "right"]]);
  await expect(page.locator(".prose", { hasText: "one" }).locator("br")).toHaveCount(1);
});

test("a log begins with one row that says how it started, and opens to its events", async ({ page }) => {
  const id = await logged([call("a", "find", { q: 1 }), result("a", "find", "x"), call("b", "find", {}), result("b", "find", "y")]);
  await open(page, id);
  const first = page.locator(".transcript > li").first();
  await expect(first).toContainText(/Queued .* started by/);
  await expect(page.locator("#seq-2")).toBeHidden();
  await first.locator("summary").first().click();
  await expect(page.locator("#seq-2")).toBeVisible();
  // Calls are counted with their results, in the chip as below the timeline.
  await expect(page.locator('[data-chip="tools"]')).toHaveText(/Tools\s*2/);
  await expect(page.locator('.timeline-key[data-mark="tool"]')).toHaveText("2 tool calls");
  // A link to one of the events opens the row.
  await page.goto("/today");
  await page.goto(`/sessions/${id}#seq-3`);
  await hydrated(page);
  await expect(page.locator("#seq-3")).toBeInViewport();
});
