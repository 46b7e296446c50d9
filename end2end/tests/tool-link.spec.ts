/** Links to tools: an admin makes and revokes one, and whoever has it runs the tool. */
import { type Page } from "@playwright/test";
import { slug } from "../questions";
import { api, expect, expectAccessible, signIn, test } from "../support";

const fits = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);

test("a tool is run by a link without an account, and not after the link is revoked @nojs", async ({ page }) => {
  const tool = slug("weather");
  const inputSchema = {
    type: "object",
    required: ["city"],
    properties: {
      city: { type: "string", title: "City" },
      days: { type: "array", items: { type: "object", properties: { day: { type: "string" } } } },
    },
  };
  const definition = { slug: tool, name: "Weather", kind: "worker", inputSchema, audience: { link: true } };
  await api("operator").post("/api/tools", definition);
  await api("operator").post(`/api/tools/${tool}/publish`);
  await signIn(page, "admin");
  await page.goto(`/tools/${tool}`);
  await page.getByRole("link", { name: "Links", exact: true }).click();
  await expect(page.getByText("This tool has no links yet.")).toBeVisible();
  await expectAccessible(page, "the links of a tool");
  await page.getByRole("button", { name: "Create link" }).click();
  const address = page.locator("#new-link-url");
  await expect(address).toHaveValue(/\/r\/sbr_/);
  const url = await address.inputValue();

  const context = await page.context().browser()!.newContext({ viewport: { width: 360, height: 800 } });
  const reader = await context.newPage();
  await reader.goto(url);
  await expectAccessible(reader, "the page that asks");
  await reader.getByRole("button", { name: "Show the form" }).click();
  await expect(reader).toHaveURL(/\/tool-links\/[0-9a-f-]+$/);
  await reader.getByLabel("City").fill("Oslo");
  await reader.getByRole("button", { name: /^Add/ }).first().click();
  await expect(reader.getByLabel("City")).toHaveValue("Oslo");
  expect(await fits(reader)).toBe(true);
  await expectAccessible(reader, "the form of the tool");
  await reader.setViewportSize({ width: 1280, height: 800 });
  const title = (await reader.locator("h1").boundingBox())!.x;
  await reader.getByRole("button", { name: "Run", exact: true }).last().click();
  await expect(reader.getByText("The run has not ended.")).toBeVisible();
  expect((await reader.locator("h1").boundingBox())!.x, "the title keeps its place").toBe(title);
  await reader.setViewportSize({ width: 360, height: 800 });
  const worker = api("worker");
  const claimed = await worker.claim(`tool:${tool}`);
  await worker.complete(claimed.session.id, claimed.attempt, { sky: "blue" });
  await reader.getByRole("link", { name: "Look again" }).click();
  await expect(reader.getByRole("region", { name: "Result" })).toContainText("blue");
  expect(await fits(reader)).toBe(true);
  await expectAccessible(reader, "the run");

  await page.goto(`/tools/${tool}/links`);
  await expect(page.locator("tbody tr")).toContainText("1 run");
  await page.getByRole("button", { name: /Revoke/ }).click();
  await expect(page.getByText("Link revoked.")).toBeVisible();
  expect((await reader.reload())!.status()).toBe(404);
  await context.close();
});
