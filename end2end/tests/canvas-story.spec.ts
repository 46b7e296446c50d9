/**
 * The story of a canvas: two people in two browsers and an agent write at the same time, while one of them is offline
 * and the server is killed.
 */
import { type Browser, type Page } from "@playwright/test";
import { type Person } from "../environment";
import { Site } from "../site";
import { expect, hydrated, test } from "../support";

/** A few rounds by default; `SHIFTBOOK_CANVAS_ROUNDS=1000` runs the long version. */
const ROUNDS = Number(process.env.SHIFTBOOK_CANVAS_ROUNDS ?? 3);
/** Longest pause of a browser before it tries a lost server again, and some time for slow machines. */
const BACK_MS_MAX = 60_000;
/** The blocks in their order: one into which both people write, and one of each author. */
const BLOCKS = ["shared", "ada", "ben", "robot"] as const;
type Block = (typeof BLOCKS)[number];

interface Canvas {
  id: string;
  version: number;
  createdBy: string;
  document: { blocks: Record<Block, { text: string }> };
}

interface Patch {
  sequence: number;
  by: string;
  ops: { value?: unknown }[];
}

const status = (page: Page) => page.locator(".canvas-status");
const fields = (page: Page) => page.locator(".canvas-editor textarea");
const shown = (page: Page) => fields(page).evaluateAll((all) => all.map((field) => (field as HTMLTextAreaElement).value));

/** Opens the canvas in a browser of this person. */
async function open(browser: Browser, { url }: Site, { email, password }: Person, id: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, reducedMotion: "reduce" });
  const signIn = { form: { email, password }, headers: { origin: url }, maxRedirects: 0 };
  expect((await context.request.post(`${url}/sign-in`, signIn)).status()).toBe(303);
  const page = await context.newPage();
  await page.goto(`/canvases/${id}`);
  await hydrated(page);
  await expect(page.locator(".canvas")).toHaveAttribute("data-editing", "");
  return page;
}

/** Types a word at the start or at the end of a block. */
async function write(page: Page, block: Block, at: "start" | "end", word: string) {
  const field = fields(page).nth(BLOCKS.indexOf(block));
  await field.focus();
  await field.press(at === "start" ? "Control+Home" : "Control+End");
  await field.pressSequentially(at === "start" ? `${word} ` : ` ${word}`, { delay: 15 });
}

/** A canvas of the agent, which both people edit. */
async function begin(site: Site, people: Person[]) {
  const blocks = BLOCKS.map((block, at) => [block, { type: "text", text: "alpha beta gamma delta", order: `a${at}` }]);
  const document = { blocks: Object.fromEntries(blocks) as unknown };
  const canvas = await site.read<Canvas>("/api/canvases", "POST", { title: "Story", document });
  const { members } = await site.read<{ members: { id: string; email: string }[] }>("/api/members");
  const actors = people.map(({ email }) => `user:${members.find((member) => member.email === email)!.id}`);
  for (const participant of actors) {
    await site.read(`/api/canvases/${canvas.id}/participants`, "PUT", { participant, role: "edit" });
  }
  return { canvas, actors };
}

/** Everything in the log of a canvas. */
async function patches(site: Site, id: string): Promise<Patch[]> {
  const all: Patch[] = [];
  for (;;) {
    const path = `/api/canvases/${id}/patches?after=${all.at(-1)?.sequence ?? 0}`;
    const page = await site.read<{ patches: Patch[]; hasMore: boolean }>(path);
    all.push(...page.patches);
    if (!page.hasMore) return all;
  }
}

test(`two people and an agent lose nothing in ${ROUNDS} rounds of a lost connection and a killed server`, async ({ browser }) => {
  test.setTimeout(90_000 + ROUNDS * 60_000);
  const site = new Site();
  const pages: Page[] = [];
  try {
    await site.start();
    const people = site.populate("ada", "ben");
    const { canvas, actors } = await begin(site, people);
    const address = `/api/canvases/${canvas.id}`;
    const newest = () => site.read<Canvas>(address);
    for (const person of people) pages.push(await open(browser, site, person, canvas.id));
    const [ada, ben] = pages as [Page, Page];

    /** Each word with its author. */
    const words = new Map<string, string>();
    const word = (actor: string, text: string) => {
      words.set(text, actor);
      return text;
    };
    for (let round = 1; round <= ROUNDS; round++) {
      await ben.context().setOffline(true);
      await write(ben, "shared", "start", word(actors[1]!, `ben${round}x`));
      await write(ada, "shared", "end", word(actors[0]!, `ada${round}x`));
      const { version, document } = await newest();
      const text = `${document.blocks.robot.text} ${word(canvas.createdBy, `robot${round}x`)}`;
      const patch = { opId: `robot:${round}`, base: version, ops: [{ op: "replace", path: "/blocks/robot/text", value: text }] };
      const answer = await site.read<{ committed: Patch }>(`${address}/patches`, "POST", patch);
      // The server is killed while one person types, and both go on.
      await Promise.all([write(ada, "ada", "end", word(actors[0]!, `ada${round}y`)), site.kill()]);
      await write(ada, "ada", "start", word(actors[0]!, `ada${round}z`));
      await expect(status(ada)).toContainText("Reconnecting.");
      await write(ben, "ben", "end", word(actors[1]!, `ben${round}y`));
      await expect(status(ben)).toContainText("Offline.");
      await site.start();
      expect((await site.read<{ committed: Patch }>(`${address}/patches`, "POST", patch)).committed).toEqual(answer.committed);
      await ben.context().setOffline(false);

      for (const page of pages) await expect(status(page)).toHaveText("Saved", { timeout: BACK_MS_MAX });
      const { blocks } = (await newest()).document;
      const stored = BLOCKS.map((block) => blocks[block].text);
      for (const page of pages) await expect.poll(() => shown(page), { timeout: BACK_MS_MAX }).toEqual(stored);
      const found = stored.join(" ").split(/\s+/);
      for (const [text] of words) expect(found.filter((one) => one === text), `${text} in ${stored.join(" | ")}`).toHaveLength(1);
      // No one had to be told that a change was replaced or not accepted.
      for (const page of pages) await expect(page.locator(".canvas-notice")).toHaveCount(0);
    }

    const log = await patches(site, canvas.id);
    for (const [text, actor] of words) {
      const first = log.find(({ ops }) => JSON.stringify(ops).includes(text));
      expect(first?.by, `who wrote ${text}`).toBe(actor);
    }
    // The page of versions says who changed each block last.
    await ada.goto(`/canvases/${canvas.id}/versions`);
    const blame = ada.locator(".canvas-blame");
    await expect(blame).toHaveCount(BLOCKS.length);
    for (const [at, name] of [[1, "ada@acme.localhost"], [2, "ben@acme.localhost"], [3, "robot (token)"]] as const) {
      await expect(blame.nth(at)).toContainText(`Changed by ${name}`);
    }
    await site.kill();
    site.run(["verify"]);
  } finally {
    for (const page of pages) await page.context().close();
    await site.end();
  }
});
