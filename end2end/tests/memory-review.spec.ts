/** The memory writer with a scripted model: proposals reviewed by forms alone, a conflict, a batch, runs, forgetting. */
import { type Page } from "@playwright/test";
import { expect, expectAccessible, hydrated, OFTEN, test } from "../support";
import { startWriterServer, type WriterServer } from "../writer";

const AGENT = "gardener";

interface Item {
  id: string;
  title: string;
  kind: string;
}

let server: WriterServer;
let tokens: WriterServer["tokens"];
/** What the model answers next. */
let answer = "";

const send = <T>(...request: Parameters<WriterServer["send"]>) => server.send<T>(...request);
const signIn = (page: Page, role: "admin" | "reviewer") => server.signIn(page, role);

const write = (path: string, text: string, baseVersion = 0) =>
  send<{ sha256: string }>(tokens.admin, "PUT", `/api/agents/${AGENT}/memory/document?path=${path}`, { baseVersion, text });
/** The newest text of a document; `null` as long as there is none. */
async function read(path: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${tokens.admin}` };
  const response = await fetch(`${server.url}/api/agents/${AGENT}/memory/document?path=${path}`, { headers });
  if (response.status === 404) return null;
  expect(response.status).toBe(200);
  return ((await response.json()) as { text: string }).text;
}

test.beforeAll(async () => {
  server = await startWriterServer(AGENT, () => answer);
  ({ tokens } = server);
});

test.afterAll(() => server.stop());

/** A conversation that ends, of which the model proposes these operations. Returns the proposals by title. */
async function proposed(message: string, ops: { path: string }[]): Promise<Map<string, string>> {
  const evidence = [{ session: "s1", sequence: 2 }];
  answer = JSON.stringify({ schema: 1, nothing: false, summary: null, ops: ops.map((op) => ({ heading: [], base_sha256: null, evidence, reason: "They said so.", ...op })) });
  await server.talked(message);
  const waiting = async () => (await send<{ items: Item[] }>(tokens.admin, "GET", "/api/approvals?kind=memory&assignedTo=all&limit=1000")).items;
  const wanted = ops.map(({ path }) => `Memory: ${path}`);
  const titles = async () => (await waiting()).map((item) => item.title);
  // Items of other tests wait in the same inbox.
  await expect.poll(titles, OFTEN).toEqual(expect.arrayContaining(wanted));
  return new Map((await waiting()).map((item) => [item.title, item.id]));
}

const create = (path: string, line: string) => ({ op: "create", path, body: `# ${line.split(" ")[0]}\n\n- ${line}\n` });
const bar = (page: Page) => page.locator("#gate .gate-bar");

async function openItem(page: Page, id: string | undefined) {
  await page.goto(`${server.url}/inbox/${id}`);
  await expect(page.locator("#gate")).toHaveAttribute("data-id", id ?? "");
}

test("proposals are approved, edited, denied and decided together @nojs", async ({ page, javaScriptEnabled }, info) => {
  const of = `${info.project.name.replace(/[^a-z]+/g, "")}${info.retry}`;
  // With 0 a decision takes a second press where scripts run.
  await send(tokens.admin, "PATCH", "/api/workspace", { undoSeconds: 1 });
  const plan = `topics/plan-${of}.md`;
  const { sha256 } = await write(plan, "# Plan\n\n## Notes\n\n- Plant beans in the garden\n");
  const replace = { op: "replace_section", path: plan, heading: ["Notes"], base_sha256: sha256, body: "- Plant peas in the garden" };
  const words = ["Apples ripen early", "Barrels leak water", "Carrots grow slowly", "Dill smells nice", "Elder flowers bloom", "Ferns want shade"];
  const path = (at: number) => `topics/${words[at]?.split(" ")[0]?.toLowerCase()}-${of}.md`;
  const items = await proposed(`Our plan for the garden: ${words.join(", ")}, and peas.`, [...words.map((line, at) => create(path(at), line)), replace]);
  const id = (at: number) => items.get(`Memory: ${path(at)}`);
  await signIn(page, "reviewer");

  // Two are approved. Each line has who said it in which words, and leads to the turn.
  for (const at of [0, 1]) {
    await openItem(page, id(at));
    await expect(page.locator(".memory-change ins").last()).toContainText(words[at] ?? "");
    await expect(page.locator(".memory-turns a").first()).toHaveAttribute("href", /^\/sessions\/.+\?before=102#seq-2$/);
    await expect(page.locator(".memory-change li[data-line='changed'] q").first()).toContainText("Our plan for the garden: Apples ripen early");
    await expect(page.locator(".memory-change li[data-line='changed'] bdi").first()).not.toBeEmpty();
    await expect(page.locator("#gate-form + *, .gate-head")).not.toHaveCount(0);
    await expect(page.locator(".gate-head")).toContainText("Expires");
    await bar(page).getByRole("button", { name: /^Approve/ }).click();
    await expect.poll(() => read(path(at)), OFTEN).toContain(words[at] ?? "");
  }
  // One is edited.
  await openItem(page, id(2));
  await page.locator("[name='value.body']").fill("# Carrots\n\n- Carrots grow quickly\n");
  await bar(page).getByRole("button", { name: /^Approve/ }).click();
  await expect.poll(() => read(path(2)), OFTEN).toBe("# Carrots\n\n- Carrots grow quickly\n");
  // One is denied, with a reason.
  await openItem(page, id(3));
  const deny = page.locator("#gate .gate-bar details, #gate .gate-bar", { hasText: "Deny…" }).first();
  await deny.getByText("Deny…").first().click();
  await page.locator("#gate textarea[name='note']").first().fill("Nobody needs that.");
  await page.getByRole("button", { name: "Deny", exact: true }).first().click();
  const denied = () => send<{ approval: { state: string } }>(tokens.admin, "GET", `/api/approvals/${id(3)}`);
  await expect.poll(async () => (await denied()).approval.state, OFTEN).toBe("settled");

  // A conflict shows the newest version, and an edit of it is accepted.
  await write(plan, "# Plan\n\n## Notes\n\n- Plant corn in the garden\n", 1);
  const conflict = items.get(`Memory: ${plan}`);
  await openItem(page, conflict);
  await expect(page.getByRole("heading", { name: "The newest version beside the proposal" })).toBeVisible();
  await expect(page.locator(".memory-change").last().locator("del")).toContainText("corn");
  await expectAccessible(page, "a conflict");
  await page.locator("[name='value.body']").fill("# Plan\n\n## Notes\n\n- Plant corn and peas in the garden\n");
  await bar(page).getByRole("button", { name: /^Approve/ }).click();
  await expect.poll(() => read(plan), OFTEN).toContain("corn and peas");

  // The two that are left are approved together.
  await page.goto(`${server.url}/inbox`);
  await hydrated(page);
  for (const at of [4, 5]) await page.locator(`#inbox-rows [data-id="${id(at)}"] input[type=checkbox]`).check();
  if (javaScriptEnabled === false) await page.getByRole("button", { name: "Review and decide" }).click();
  await page.locator("#inbox-batch-bar").getByRole("button", { name: /^Approve/ }).click();
  for (const at of [4, 5]) await expect.poll(() => read(path(at)), OFTEN).toContain(words[at] ?? "");
});

/** A proposal of two lines, one of them from so many turns and the other from the first of them. */
async function ofTurns(turns: number, path: string): Promise<string | undefined> {
  const words = (at: number) => `Message ${at + 1} says once more that the greenhouse needs new glass, and who could bring it along on Saturday.`;
  const lines = ["- The greenhouse needs new glass, which somebody brings along on Saturday.", "- Glass comes on Saturday"];
  // A block names at most 20 turns.
  const block = (text: string, sequences: number[]) => ({ text, evidence: sequences.map((sequence) => ({ session: "s1", sequence })), contradicts: [] });
  const answered = (sequences: number[]) => {
    const parts = [block("# Greenhouse", sequences.slice(0, 1))];
    for (let from = 0; from < sequences.length; from += 20) parts.push(block(lines[0] ?? "", sequences.slice(from, from + 20)));
    parts.push(block(lines[1] ?? "", sequences.slice(0, 1)));
    const op = { op: "create", path, heading: [], base_sha256: null, blocks: parts, evidence: [], reason: "They said so." };
    answer = JSON.stringify({ schema: 2, nothing: false, summary: null, ops: [op] });
  };
  await server.talked(words(0), Array.from({ length: turns - 1 }, (_, at) => words(at + 1)), answered);
  const waiting = async () => (await send<{ items: Item[] }>(tokens.admin, "GET", "/api/approvals?kind=memory&assignedTo=all&limit=1000")).items;
  const found = async () => (await waiting()).find((item) => item.title === `Memory: ${path}`)?.id;
  await expect.poll(found, OFTEN).toBeTruthy();
  return found();
}

test("what was said stands once beside its lines and leaves them room at every width", async ({ page }, info) => {
  // It waits for four proposals, opens 16 pages and looks at four of them with axe.
  test.setTimeout(180_000);
  await signIn(page, "reviewer");
  for (const turns of [1, 2, 7, 40]) {
    const id = await ofTurns(turns, `topics/greenhouse-${turns}-${info.retry}.md`);
    for (const width of [360, 768, 1280, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      await openItem(page, id);
      const change = page.locator(".memory-change").first();
      const whole = (await change.boundingBox())?.width ?? 0;
      const words = await change.locator(".memory-words").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
      expect(words.length, `${turns} turns`).toBeGreaterThan(0);
      // Beside the lines it takes two fifths of the width at most.
      for (const one of words) expect(one, `${turns} turns at ${width}`).toBeGreaterThan(whole * 0.5);
      expect(Math.min(...words), `${turns} turns at ${width}`).toBeGreaterThan(220);
      // Each turn is quoted once, and all can be reached.
      const hrefs = await change.locator("q").evaluateAll((all) => all.map((one) => one.parentElement?.querySelector("a")?.getAttribute("href")));
      expect(new Set(hrefs).size, `${turns} turns`).toBe(turns);
      expect(hrefs.length, `${turns} turns`).toBe(turns);
      if (turns > 4) {
        // A fold that was opened can stay open when the page is opened again.
        const folds = await change.locator("details", { has: page.locator("q") }).all();
        expect(folds.length, `${turns} turns`).toBeGreaterThan(0);
        for (const fold of folds) {
          if (width === 360) await expect(fold.locator("q").last()).not.toBeVisible();
          if ((await fold.getAttribute("open")) === null) await fold.locator("summary").click();
          await expect(fold.locator("q").last()).toBeVisible();
        }
      }
      await expect(change.locator("q").last()).toBeVisible();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      expect(wide, `${turns} turns at ${width}`).toBe(false);
    }
    await expectAccessible(page, `a proposal of ${turns} turns`);
  }
});

test("a fold that was opened stays open when the item is read again", async ({ page }, info) => {
  await signIn(page, "reviewer");
  const id = await ofTurns(7, `topics/fold-${info.retry}.md`);
  await openItem(page, id);
  await hydrated(page);
  const fold = page.locator(".memory-change").first().locator("details", { has: page.locator("q") }).last();
  await fold.locator("summary").click();
  await page.evaluate(() => {
    const stream = new BroadcastChannel("shiftbook-live");
    stream.postMessage("resync ");
    stream.close();
  });
  // A part that was read again knows the HTML that it came with.
  await page.waitForFunction(() => {
    const values = document.querySelector("#gate [data-part=values]");
    return values !== null && "cameFrom" in values;
  });
  await expect(fold).toHaveAttribute("open", "");
});

test("a text that is restored after a reload takes back nothing of a newer version", async ({ page }, info) => {
  await send(tokens.admin, "PATCH", "/api/workspace", { undoSeconds: 1 });
  const plan = `topics/orchard-${info.retry}.md`;
  const { sha256 } = await write(plan, "# Orchard\n\n## Notes\n\n- Prune in winter\n");
  const replace = { op: "replace_section", path: plan, heading: ["Notes"], base_sha256: sha256, body: "- Prune in spring" };
  const items = await proposed("The orchard is pruned in spring.", [replace]);
  const id = items.get(`Memory: ${plan}`);
  await signIn(page, "reviewer");
  await openItem(page, id);
  await hydrated(page);
  const typed = "# Orchard\n\n## Notes\n\n- Prune in early spring\n";
  await page.locator("[name='value.body']").fill(typed);

  // The page is loaded again with a newer version, which the typed text knows nothing of.
  await write(plan, "# Orchard\n\n## Notes\n\n- Prune in autumn\n", 1);
  await page.reload();
  await hydrated(page);
  await expect(page.getByRole("heading", { name: "The newest version beside the proposal" })).toBeVisible();
  await expect(page.locator("[name='value.body']")).toHaveValue(typed);
  await expect(page.locator("[name='value.baseVersion']")).toHaveValue("1");

  // The approval cannot be carried out, so the item opens again.
  await bar(page).getByRole("button", { name: /^Approve/ }).click();
  interface Detail {
    approval: { state: string };
    decisions: object[];
  }
  const reopened = async () => {
    const { approval, decisions } = await send<Detail>(tokens.admin, "GET", `/api/approvals/${id}`);
    return decisions.length > 0 && approval.state === "open";
  };
  await expect.poll(reopened, OFTEN).toBe(true);
  expect(await read(plan)).toBe("# Orchard\n\n## Notes\n\n- Prune in autumn\n");
});

test("the page of runs has cost, settings and a button @nojs", async ({ page }, info) => {
  const of = `runs${info.project.name.replace(/[^a-z]+/g, "")}${info.retry}`;
  await proposed(`Zinnias for ${of}.`, [create(`topics/zinnias-${of}.md`, `Zinnias ${of} bloom`)]);
  await signIn(page, "admin");
  await page.goto(`${server.url}/agents/${AGENT}/memory/runs`);
  await expect(page.locator(".history-item").first()).toContainText("a conversation ended");
  await expect(page.getByText("Every change waits for a review.")).toBeVisible();
  await expectAccessible(page, "the runs");
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.getByText("The run begins within seconds.").first()).toBeVisible();
  await page.goto(`${server.url}/insights`);
  await expect(page.getByRole("heading", { name: "Memory writers" })).toBeVisible();
});

test("a person is forgotten after a look at what would go @nojs", async ({ page }, info) => {
  const of = `${info.project.name.replace(/[^a-z]+/g, "")}${info.retry}`;
  const person = `discord-1${of}`;
  await write(`people/${person}.md`, `# Quentin${of}\n\n- Likes kites\n`);
  await write(`topics/kites-${of}.md`, `# Kites\n\n- Quentin${of} flies them\n- Wind is needed\n`);
  await signIn(page, "admin");
  await page.goto(`${server.url}/memory`);
  await page.locator("main").getByText("More", { exact: true }).click();
  await page.getByRole("link", { name: "Forget a person" }).click();
  await page.getByLabel("Person").fill(person);
  await page.getByRole("button", { name: "Show what is known" }).click();
  await expect(page.locator(".forget-document")).toHaveCount(2);
  await expect(page.locator(".forget-lines").last()).toContainText("names them");
  await expectAccessible(page, "what would go");
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  await expect(page.getByText("type the word forget")).toBeVisible();
  await page.getByLabel(/Type .forget. to erase/).fill("forget");
  await page.getByRole("button", { name: "Erase", exact: true }).click();
  await expect(page.getByText("Erased. The digests of the texts are kept.")).toBeVisible();
  expect(await read(`topics/kites-${of}.md`)).toBe("# Kites\n\n- Wind is needed\n");
});
