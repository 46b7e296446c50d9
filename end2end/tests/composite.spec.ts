/**
 * Composite tools: made in the editor from a call of a service, a tool of an MCP server and a worker, run from their
 * page, followed through their steps, and shared with someone without an account.
 */
import type { Page } from "@playwright/test";
import { startService } from "../mcp";
import { slug } from "../questions";
import { type Claim, api, expect, expectAccessible, signIn, test } from "../support";

const CITY = { type: "object", properties: { city: { type: "string", title: "City" } } };

let service: Awaited<ReturnType<typeof startService>>;
test.beforeAll(async () => {
  const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const offer = { tools: [{ name: "greet", inputSchema }], call: (_: string, input: object) => ({ greeted: input }) };
  service = await startService(offer, (_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ at: [59, 10] }));
  });
});
test.afterAll(() => service.close());

/** Publishes the tools of the steps: a call of the service, a tool of an MCP server, and one of workers. */
async function publishSteps() {
  const [place, server, weather] = [slug("place"), slug("greeter"), slug("weather")];
  const operator = api("operator");
  const http = { method: "GET", url: `${service.origin}/place?city={city}` };
  await operator.post("/api/tools", { slug: place, name: "Place", kind: "http", http, inputSchema: CITY });
  const transport = { kind: "http", url: `${service.origin}/mcp` };
  await operator.post("/api/mcp-servers", { slug: server, name: "Greeter", transport });
  await operator.post(`/api/mcp-servers/${server}/refresh`);
  await operator.post(`/api/mcp-servers/${server}/import`, { tools: ["greet"] });
  await operator.post("/api/tools", { slug: weather, name: "Weather", kind: "worker", inputSchema: { type: "object" } });
  const greet = `${server}-greet`;
  for (const tool of [place, greet, weather]) await operator.post(`/api/tools/${tool}/publish`);
  return { place, greet, weather };
}

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

/** Reports progress until the page shows it. Reports are sent to those who follow the session already. */
async function expectProgress(page: Page, { session, attempt }: Claim) {
  await page.goto(`/sessions/${session.id}`);
  await expect(async () => {
    await api("worker").post(`/api/sessions/${session.id}/progress`, { attempt, done: 1, total: 2, note: "reading" });
    await expect(page.locator("[data-progress]")).toHaveText("1 of 2: reading", { timeout: 300 });
  }).toPass();
}

test("a composite tool is made, run, followed through its steps and shared @nojs", async ({ page }, info) => {
  const withScripts = info.project.name === "js";
  const { place, greet, weather } = await publishSteps();
  const whole = slug("trip");
  const definition = (pointer: string) => {
    const steps = [
      { name: "place", tool: place, input: { city: pointer } },
      { name: "greeting", tool: greet, input: { text: "{/input/city}" } },
      { name: "weather", tool: weather, input: { at: "{/steps/place/body/at}", said: "{/steps/greeting/greeted/text}" } },
    ];
    return JSON.stringify({ kind: "composite", composite: { steps }, inputSchema: CITY }, null, 2);
  };
  await signIn(page, "admin");
  await page.goto("/tools/new");
  await page.locator('input[name="name"]').fill(`Trip ${whole}`);
  await page.locator('input[name="slug"]').fill(whole);
  await page.locator('textarea[name="definition"]').fill(definition("{/input/town}"));
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.locator("#edit-definition-error")).toContainText("composite.steps[0].input/city");
  await page.locator('textarea[name="definition"]').fill(definition("{/input/city}"));
  await page.getByRole("button", { name: "Create tool" }).click();
  await expect(page.getByText("Tool saved.")).toBeVisible();
  await expect(page.getByRole("table", { name: "Steps" }).getByRole("link", { name: weather })).toBeVisible();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Tool published.")).toBeVisible();
  await expectAccessible(page, "the page of a composite tool");

  // A person fills the form on a phone.
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await fits(page), "the page of a composite tool at 360 px").toBe(true);
  await page.locator('input[name="input.city"]').fill("Oslo");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page).toHaveURL(/\/sessions\//);
  const claimed = await api("worker").claim(`tool:${weather}`);
  expect(claimed.input).toEqual({ at: [59, 10], said: "Oslo" });
  if (withScripts) await expectProgress(page, claimed);
  await api("worker").complete(claimed.session.id, claimed.attempt, { weather: "rain" });
  const run = claimed.session.parentId as string;
  await api("operator").untilStatus(run, "completed");
  await page.goto(`/sessions/${run}`);
  for (const step of ["place", "greeting", "weather"]) {
    await expect(page.getByText(`Step completed ${step}`)).toBeVisible();
  }
  expect(await fits(page), "the transcript at 360 px").toBe(true);
  await page.setViewportSize({ width: 1280, height: 720 });
  await expectAccessible(page, "the transcript of a composite run");
  await page.getByRole("link", { name: "Session of weather" }).first().click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${claimed.session.id}$`));
  await page.getByRole("link", { name: `Trip ${whole}` }).first().click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${run}$`));

  // Someone without an account and without cookies reads the result.
  await page.getByRole("link", { name: "Share", exact: true }).click();
  await page.getByRole("button", { name: "Create link" }).click();
  const url = await page.locator("#new-link-url").inputValue();
  const size = { viewport: { width: 360, height: 800 }, javaScriptEnabled: withScripts };
  const context = await page.context().browser()!.newContext(size);
  const reader = await context.newPage();
  await reader.goto(url);
  await reader.getByRole("button", { name: "Show the page" }).click();
  await expect(reader).toHaveURL(/\/shared\/[0-9a-f-]+$/);
  await expect(reader.getByRole("region", { name: "Result" })).toContainText("rain");
  await expect(reader.getByRole("region", { name: "Input" })).toContainText("Oslo");
  for (const width of [360, 1280]) {
    await reader.setViewportSize({ width, height: 800 });
    expect(await fits(reader), `the shared result at ${width} px`).toBe(true);
  }
  await expectAccessible(reader, "the shared result");
  await context.close();
});
