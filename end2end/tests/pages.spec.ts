/** Every page: accessible, usable at every width, without a script error. */
import { api, expect, expectAccessible, hydrated, signIn, environment, test } from "../support";

/** Creates a session whose log has every kind of event, with hostile text in it. */
async function richSession(): Promise<{ session: string; action: string }> {
  const operator = api();
  const nasty = `<script>window.pwned = 1</script><img src=x onerror="window.pwned = 1"> [click](javascript:alert(1)) ![i](https://elsewhere.test/x.png)`;
  const action = await operator.createAction({ name: `Rich <b>log</b> 🧪 ${"long title ".repeat(12)}`, agentSlug: "rich" });
  const { id } = await operator.trigger(action.id, { q: nasty });
  const { attempt } = await operator.claim("rich", 600);
  const text = (value: string) => [{ type: "text", text: value }];
  await operator.append(id, attempt, [
    { type: "agent.thinking", content: text("What could this be?\n\nLet me look.") },
    { type: "agent.tool_call", content: [{ type: "tool-call", toolCallId: "t1", toolName: "search", input: { query: nasty } }] },
    { type: "agent.tool_result", content: [{ type: "tool-result", toolCallId: "t1", toolName: "search", output: { hits: [1, 2] } }] },
    { type: "agent.message", content: text(`# Found\n\n- **one**\n- \`two\`\n\n${nasty}\n\nשלום عالم 日本`) },
    { type: "agent.message", content: text("x".repeat(10_000)) },
    { type: "external.event", content: text("deploy finished"), metadata: { nasty } },
    { type: "acme.custom_kind", metadata: { a: 1 } },
    { type: "session.error", content: text("something broke") },
  ]);
  await operator.fail(id, attempt, "it broke for good");
  return { session: id, action: action.id };
}

let rich: { session: string; action: string };
test.beforeAll(async () => {
  rich = await richSession();
});

const PAGES: [string, () => string][] = [
  ["today", () => "/today"],
  ["today, one bucket", () => "/today?bucket=failed"],
  ["sessions", () => "/sessions"],
  ["sessions, nothing found", () => "/sessions?q=no-such-title"],
  ["a session", () => `/sessions/${rich.session}`],
  ["a session, filtered", () => `/sessions/${rich.session}?kinds=errors`],
  ["actions", () => "/actions"],
  ["an action", () => `/actions/${rich.action}`],
  ["insights", () => "/insights"],
  ["insights of a quarter", () => "/insights?days=90"],
  ["memories that help", () => "/insights/memories"],
  ["training data", () => "/export"],
  ["settings", () => "/settings"],
  ["API manual", () => "/api/docs"],
  ["not found", () => "/no-such-page"],
];

for (const [name, path] of PAGES) {
  test(`${name}: axe finds nothing, nothing overflows at 1280 or 360 px, no script error @nojs`, async ({ page }, info) => {
    // axe takes a minute for the manual's thousands of elements.
    if (name === "API manual") test.slow();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("404")) errors.push(message.text());
    });
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(environment().url) && !request.url().startsWith("data:")) elsewhere.push(request.url());
    });
    await signIn(page, "admin");
    await page.goto(path());
    await expect(page.locator("h1").first()).toBeVisible();
    // axe itself runs as a script in the page.
    if (info.project.name === "js") {
      await expectAccessible(page, name);
      expect(await page.evaluate(() => (window as { pwned?: number }).pwned), "stored script ran").toBeUndefined();
    }
    expect(errors).toEqual([]);
    expect(elsewhere).toEqual([]);
  });
}

test("the sign-in page has no axe violation", async ({ page }) => {
  await page.goto("/sign-in");
  await expectAccessible(page);
});

test("a log of 100,000 events opens at its end and loads earlier ones on request @nojs", async ({ page }) => {
  test.slow();
  const operator = api();
  const action = await operator.createAction({ name: `Very long`, agentSlug: "verylong" });
  const { id } = await operator.trigger(action.id);
  const { attempt } = await operator.claim("verylong", 3600);
  for (let from = 0; from < 100_000; from += 500) {
    const events = Array.from({ length: 500 }, (_, n) => ({ type: "agent.message", content: [{ type: "text", text: `event ${from + n}` }] }));
    await operator.append(id, attempt, events);
  }
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await expect(page.getByText("event 99999", { exact: true })).toBeAttached();
  await expect(page.getByText("event 99000", { exact: true })).toHaveCount(0);
  await page.getByText("Load earlier events").first().click();
  await expect(page.getByText("event 99700", { exact: true })).toBeAttached();
});

test("the keyboard alone reaches today, sessions and the list of keys", async ({ page }) => {
  await signIn(page, "operator");
  await page.goto("/today");
  // Keys work only after the scripts of the document have started.
  await hydrated(page);
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await expect(page).toHaveURL(/\/sessions/);
  await hydrated(page);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("ControlOrMeta+k");
  await expect(page.getByRole("dialog")).toBeVisible();
});
