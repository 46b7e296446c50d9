/** MCP servers: added, asked for their tools, and imported, with and without scripts; and an input by keyboard. */
import type { Locator, Page } from "@playwright/test";
import { startService } from "../mcp";
import { slug } from "../questions";
import { api, expect, expectAccessible, signIn, test } from "../support";

const ORDER = {
  type: "object",
  required: ["name", "pay"],
  properties: {
    name: { type: "string" },
    lines: {
      type: "array",
      items: { type: "object", required: ["article"], properties: { article: { type: "string" } } },
    },
    pay: {
      oneOf: [
        {
          type: "object",
          required: ["kind", "card"],
          properties: { kind: { const: "card" }, card: { type: "string" } },
        },
        {
          type: "object",
          required: ["kind", "iban"],
          properties: { kind: { const: "bank" }, iban: { type: "string" } },
        },
      ],
    },
  },
};

const TOOLS = [
  { name: "order", title: "Order <b>articles</b>", description: "Orders articles.", inputSchema: ORDER },
  { name: "stock", description: `What is in ${"stock ".repeat(60)}`, inputSchema: { type: "object" } },
  { name: "two words", inputSchema: { type: "object" } },
];

let shop: Awaited<ReturnType<typeof startService>>;
let origin: string;
test.beforeAll(async () => {
  const offer = { tools: TOOLS, call: (_: string, input: object) => ({ ordered: input }) };
  shop = await startService(offer, (_, response) => void response.writeHead(404).end("there is no shop"));
  origin = shop.origin;
});
test.afterAll(() => shop.close());

test("an MCP server is added, refuses, is changed, and its tools are imported @nojs", async ({ page }) => {
  const server = slug("shop");
  await signIn(page, "admin");
  await page.goto("/mcp-servers");
  await expect(page.locator("h1")).toHaveText("MCP servers");
  await page.getByText("Add an MCP server", { exact: true }).click();
  await page.locator('input[name="name"]').fill("The shop");
  await page.locator('input[name="slug"]').fill(server);
  await page.locator('input[name="url"]').fill("ftp://shop.example.org");
  await page.getByRole("button", { name: "Add server" }).click();
  await expect(page.locator("#mcp-url-error")).toBeVisible();
  await expect(page.locator('input[name="slug"]')).toHaveValue(server);
  await expectAccessible(page, "the list with an address that is refused");
  await page.locator('input[name="url"]').fill(`${origin}/closed`);
  await page.getByRole("button", { name: "Add server" }).click();
  await expect(page.getByText("MCP server saved.")).toBeVisible();
  await page.getByRole("button", { name: "Ask for its tools" }).click();
  await expect(page.getByText(/gave no list of its tools: .*404 there is no shop/)).toBeVisible();
  await expectAccessible(page, "a server that gives no list");
  await page.getByText("Change or delete", { exact: true }).click();
  await page.locator('input[name="url"]').fill(`${origin}/mcp`);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("MCP server saved.")).toBeVisible();
  await page.getByRole("button", { name: "Ask for its tools" }).click();
  await expect(page.getByText("Its tools are listed below.")).toBeVisible();
  await expect(page.getByRole("checkbox", { name: "Import stock" })).not.toBeChecked();
  await expect(page.getByText("These tools cannot be imported:")).toBeVisible();
  await expectAccessible(page, "the tools of a server");
  await page.getByRole("checkbox", { name: "Import order" }).check();
  await page.getByRole("button", { name: "Import chosen tools" }).click();
  await expect(page.getByText("Imported. Tools that are new are drafts")).toBeVisible();
  await page.goto(`/tools/${server}-order`);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await expect(page.getByText("Tool published.")).toBeVisible();
  await page.locator('input[name="input.name"]').fill("Ada");
  await page.locator('input[name="input.pay.card"]').fill("4242");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page).toHaveURL(/\/sessions\//);
  await api().untilStatus(new URL(page.url()).pathname.split("/").pop()!, "completed");
  await page.reload();
  await expect(page.getByRole("link", { name: "Save the result as JSON" })).toBeVisible();
  await expectAccessible(page, "the session of a call");
  expect((await page.goto(`/tools/${server}-stock`))?.status(), "a tool that was not chosen").toBe(404);
});

/** Moves the focus with the Tab key until it is on this element. */
async function tabTo(page: Page, wanted: Locator) {
  await expect(wanted).toBeVisible();
  for (let presses = 0; presses < 200; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the Tab key does not reach ${wanted}`);
}

test("rows of an input are added, moved and removed by keyboard", async ({ page }) => {
  const tool = slug("order");
  const operator = api("operator");
  await operator.post("/api/tools", { slug: tool, name: "Order", kind: "worker", inputSchema: ORDER });
  await operator.post(`/api/tools/${tool}/publish`);
  await signIn(page, "admin");
  await page.goto(`/tools/${tool}`);
  const press = async (name: string) => {
    await tabTo(page, page.getByRole("button", { name, exact: true }));
    await page.keyboard.press("Enter");
  };
  const article = (row: number) => page.locator(`input[name="input.lines.${row}.article"]`);
  for (const [row, text] of ["pen", "ink", "nib"].entries()) {
    await press("Add a row Lines");
    await tabTo(page, article(row));
    await page.keyboard.type(text);
  }
  await press("Move up Lines 3");
  await expect(article(1)).toHaveValue("nib");
  await press("Remove Lines 1");
  await expect(article(2)).toHaveCount(0);
  await expect(article(0)).toHaveValue("nib");
  await expect(article(1)).toHaveValue("ink");
  await tabTo(page, page.locator('select[name="input.pay.~variant"]'));
  await page.keyboard.press("ArrowDown");
  await press("Show its fields Pay");
  await tabTo(page, page.locator('input[name="input.pay.iban"]'));
  await page.keyboard.type("NO1");
  await expectAccessible(page, "an input with rows and a chosen form");
  await page.locator('input[name="input.name"]').fill("Ada");
  await press("Run");
  await expect(page).toHaveURL(/\/sessions\//);
  const claimed = await api("worker").claim(`tool:${tool}`);
  const lines = [{ article: "nib" }, { article: "ink" }];
  expect(claimed.input).toEqual({ name: "Ada", lines, pay: { kind: "bank", iban: "NO1" } });
  await api("worker").complete(claimed.session.id, claimed.attempt, {});
});
