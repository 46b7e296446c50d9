/** The page of an agent: a card is previewed and given by forms alone, what was erased, the list of its sessions. */
import { api, environment, expect, expectAccessible, signIn, test } from "../support";
import { type Page } from "@playwright/test";

const card = (data: Record<string, unknown>) =>
  Buffer.from(JSON.stringify({ spec: "chara_card_v2", spec_version: "2.0", data }));

/** Chooses a file in the form of the card and asks for its preview. */
async function preview(page: Page, agent: string, buffer: Buffer) {
  await page.goto(`/agents/${agent}`);
  await page.locator("summary", { hasText: "Give it a card" }).click();
  await page.locator('input[name="card"]').setInputFiles({ name: "card.json", mimeType: "application/json", buffer });
  await page.getByRole("button", { name: "Preview" }).click();
}

const agentOf = (info: { project: { name: string }; retry: number }, name: string) =>
  `${name}-${info.project.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${info.retry}`;

test("a card is previewed and given by forms alone @nojs", async ({ page }, info) => {
  const agent = agentOf(info, "iris");
  await signIn(page, "operator");
  await preview(page, agent, card({ name: "Iris", description: "A gardener.", personality: "calm" }));
  await expect(page.getByRole("heading", { name: "Preview of the card" })).toBeVisible();
  await expect(page.locator(".card-change")).toHaveCount(3);
  await page.getByRole("button", { name: "Use this card" }).click();
  await expect(page.getByText("The agent has the card.")).toBeVisible();

  await preview(page, agent, card({ name: "Iris", description: "A cook." }));
  await expect(page.locator(".memory-diff ins")).toHaveText("cook.");
  await expect(page.getByText("is deleted; its history is kept")).toBeVisible();
  await page.getByRole("link", { name: "Cancel" }).click();
  await expect(page.locator(".card-change")).toHaveCount(0);
});

test("a card whose documents were edited after its preview is not given until it is previewed again @nojs", async ({ page }, info) => {
  const agent = agentOf(info, "edited");
  const description = `/api/agents/${agent}/memory/document?path=self/description.md`;
  const use = page.getByRole("button", { name: "Use this card" });
  await signIn(page, "operator");
  await preview(page, agent, card({ name: "Iris", description: "A gardener." }));
  await use.click();
  await expect(page.getByText("The agent has the card.")).toBeVisible();

  await preview(page, agent, card({ name: "Iris", description: "A cook." }));
  await expect(page.locator(".card-change")).toHaveCount(1);
  const edited = "A gardener who is patient.\n";
  // Only people change what comes from the card.
  const form = { step: "save", path: "self/description.md", baseVersion: "1", text: edited };
  const headers = { origin: environment().url };
  const saved = await page.context().request.post(`/agents/${agent}/memory`, { form, headers, maxRedirects: 0 });
  expect(saved.status()).toBe(303);
  const refused = page.waitForResponse((response) => new URL(response.url()).pathname === `/agents/${agent}/card`);
  await use.click();
  expect((await refused).status()).toBe(409);
  await expect(page.getByText("have changed since you saw the preview. Nothing was written.")).toBeVisible();
  expect(await api().get(description)).toMatchObject({ version: 2, text: edited });

  // The page shows what the card would change now.
  await expect(page.locator(".card-change")).toContainText("patient");
  await use.click();
  await expect(page.getByText("The agent has the card.")).toBeVisible();
  expect(await api().get(description)).toMatchObject({ version: 3, text: "A cook.\n" });
});

test("a file that is no card is refused beside the form @nojs", async ({ page }, info) => {
  const agent = agentOf(info, "broken");
  await signIn(page, "operator");
  await preview(page, agent, Buffer.from("{"));
  await expect(page.getByText("This file is not valid JSON (line 1).")).toBeVisible();
  await expect(page.locator('input[name="card"]')).toHaveAttribute("aria-invalid", "true");
});

test("the sessions of an agent are one link away @nojs", async ({ page }, info) => {
  const agent = agentOf(info, "filtered");
  for (const [slug, title] of [[agent, "Water the plants"], [`${agent}-other`, "Mend the fence"]]) {
    await api().send("POST", "/api/sessions", { sessionType: "agent", agentSlug: slug, title });
  }
  await signIn(page, "operator");
  await page.goto(`/agents/${agent}`);
  await page.getByRole("link", { name: "Sessions", exact: true }).last().click();
  await expect(page).toHaveURL(new RegExp(`q=agent(%3A|:)${agent}`));
  await expect(page.getByText("Water the plants")).toBeVisible();
  await expect(page.getByText("Mend the fence")).toHaveCount(0);
  await expect(page.getByLabel("Search sessions")).toHaveValue(`agent:${agent}`);
});

test("the page of an agent pleases axe empty, previewed and erased", async ({ page }, info) => {
  test.slow();
  const agent = agentOf(info, "states");
  await signIn(page, "admin");
  await page.goto(`/agents/${agent}`);
  await expect(page.getByText("remembers nothing yet")).toBeVisible();
  await expectAccessible(page, "empty");
  const long = { name: "Iris 👩‍👩‍👧 עברית", description: "x".repeat(400) + "\nA gardener.", scenario: "A\nB\nC" };
  await preview(page, agent, card(long));
  await expectAccessible(page, "previewed");
  await page.getByRole("button", { name: "Use this card" }).click();
  await expect(page.getByText("The agent has the card.")).toBeVisible();
  await api("admin").send("POST", `/api/agents/${agent}/memory/erase`, { path: "self/scenario.md" });
  await page.goto(`/agents/${agent}`);
  await expect(page.getByRole("heading", { name: "Erased" })).toBeVisible();
  await expect(page.getByText("1 document of its memory")).toBeVisible();
  await expectAccessible(page, "erased");
  await page.goto(`/sessions?agent=${agent}`);
  await expectAccessible(page, "its sessions");
});
