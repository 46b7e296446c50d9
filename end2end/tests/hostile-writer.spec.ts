/** No script runs from what a memory writer proposes, or from errors of its model. */
import { joined, line, picked, visitExisting, watch } from "../hostile";
import { expect, OFTEN, test } from "../support";
import { startWriterServer, type Answer, type WriterServer } from "../writer";

/** The agent whose memory writer proposes and fails, on a server with a scripted model. */
const WRITER = "scribe";
let writing: WriterServer | undefined;
/** What the model of that server answers. */
let told: Answer = "";
let proposed: Promise<string[]> | undefined;

test.afterAll(() => writing?.stop());

/** Whether the rules of the writer let a text through: no HTML and no images. Proposals with such texts never open. */
const isProposable = (words: string) => !/<[\p{L}/!?]|!\[/u.test(words);

/** Lets runs fail with errors of the model's service that are payloads, and one propose documents. Returns their pages. */
async function proposals({ url, tokens, send, talked }: WriterServer): Promise<string[]> {
  const runs = () => send<{ items: { error: string | null }[] }>(tokens.admin, "GET", `/api/agents/${WRITER}/memory/runs`);
  const flush = () => send(tokens.admin, "POST", `/api/agents/${WRITER}/memory/flush`);
  const lines = picked.map(line);
  for (const [at, words] of joined(lines, 10, " ").entries()) {
    const error = words.slice(0, 400);
    told = { status: 400, error };
    if (at) await flush();
    else await talked(picked.join("\n"));
    await expect.poll(async () => (await runs()).items.some((run) => run.error?.includes(error)), { ...OFTEN, timeout: 30_000 }).toBe(true);
  }
  const proposable = lines.filter(isProposable);
  const evidence = [{ session: "s1", sequence: 2 }];
  const body = proposable.map((words) => `- ${words}\n`).join("");
  const op = { op: "create", path: "topics/hostile.md", heading: [], base_sha256: null, body: `# ${proposable[0]}\n\n${body}`, evidence, reason: proposable[1] };
  told = JSON.stringify({ schema: 1, nothing: false, summary: { title: proposable[2], body, evidence }, ops: [op] });
  await flush();
  const waiting = async () => (await send<{ items: { id: string; sessionId: string }[] }>(tokens.admin, "GET", "/api/approvals?kind=memory&assignedTo=all")).items;
  await expect.poll(async () => (await waiting()).length, { ...OFTEN, timeout: 30_000 }).toBe(2);
  const pages = (await waiting()).flatMap(({ id, sessionId }) => [`/inbox/${id}`, `/sessions/${sessionId}`]);
  return [`/agents/${WRITER}/memory/runs`, `/agents/${WRITER}`, "/inbox", "/insights", ...pages].map((path) => `${url}${path}`);
}

for (const bypassCSP of [false, true]) {
  test.describe(bypassCSP ? "without the content security policy" : "as it is served", () => {
    test.use({ bypassCSP, actionTimeout: 60_000 });

    test("no script from what a memory writer proposes or fails with runs", async ({ page, context }) => {
      test.setTimeout(600_000);
      writing ??= await startWriterServer(WRITER, () => told);
      proposed ??= proposals(writing);
      const paths = await proposed;
      const seen = await watch(context);
      await writing.signIn(page, "admin");
      for (const path of paths) await visitExisting(page, seen, path);
      await page.goto(paths[0]!);
      await expect(page.locator("main")).toContainText("ran()");
      // The turn that a line comes from is quoted beside it, as text.
      await page.goto(paths.find((path) => path.includes("/inbox/"))!);
      await expect(page.locator("q").first()).toContainText(picked[0]!);
    });
  });
}
