/** Conversations with a real agent: a process that reads the messages and prints its reply. */
import { type Page, type Request } from "@playwright/test";
import { api, expect, expectAccessible, hydrated, runWorker, signIn, test, type Worker } from "../support";

/** Replies in Markdown with the last message; fails if the message says so. */
const AGENT = `
read -r talk
case "$talk" in
  *'"text":"fail"}'*) echo 'the model is out' >&2; exit 3 ;;
esac
n=$(printf '%s' "$talk" | grep -o '"role":"user"' | wc -l)
printf '{"type":"result","result":"Heard **message %s**."}\\n' $n
`;

async function clerk(of: string) {
  const agent = `clerk-${of}-${Date.now().toString(36)}`;
  await api().createAction({ name: `Talk ${agent}`, agentSlug: agent });
  return agent;
}

async function begin(page: Page, agent: string, message: string) {
  await page.goto("/chat");
  await page.locator('select[name="agent"]').selectOption(agent);
  await page.locator('textarea[name="message"]').fill(message);
  await page.getByRole("button", { name: "Start conversation" }).click();
  await expect(page).toHaveURL(/\/chat\/[0-9a-f-]{36}/);
  return page.url().match(/chat\/([0-9a-f-]{36})/)![1]!;
}

const composer = (page: Page) => page.locator("#composer textarea");

/** Expects a text. Without scripts it reloads the page, as the page's own refresh does. */
async function shows(page: Page, scripts: boolean, words: string | RegExp) {
  if (scripts) return void (await expect(page.locator("#conversation")).toContainText(words));
  await expect(async () => {
    await page.reload();
    await expect(page.locator("#conversation")).toContainText(words, { timeout: 500 });
  }).toPass();
}

test("a person talks with an agent, a turn fails and is tried again, and the end is rated @nojs", async ({ page }, info) => {
  test.slow();
  const scripts = info.project.name === "js";
  const agent = await clerk(info.project.name);
  const worker: Worker = runWorker(agent, ["sh", "-c", AGENT]);
  const say = async (text: string) => {
    await composer(page).fill(text);
    const send = page.getByRole("button", { name: "Send", exact: true });
    if (!scripts) return void (await send.click());
    // The reply is shown before the turn ends, and until then Enter makes a new line.
    await expect(send).toBeVisible();
    await composer(page).press("Enter");
  };
  try {
    await signIn(page, "operator");
    const id = await begin(page, agent, "Hello <there>");
    await hydrated(page);
    await shows(page, scripts, "Heard message 1.");
    await expect(page.locator(".message strong", { hasText: "message 1" })).toBeVisible();
    await expect(page.locator('.message[data-by="person"]')).toContainText("Hello <there>");

    await say("And\nagain");
    await shows(page, scripts, "Heard message 2.");
    await expect(composer(page)).toHaveValue("");
    await say("fail");
    await shows(page, scripts, "The turn failed");
    await shows(page, scripts, "Nothing is lost");
    await page.getByRole("button", { name: "Send it again" }).click();
    // Two messages without an answer in between are one turn for the agent.
    await shows(page, scripts, "Heard message 3.");
    await expect(page.locator('.message[data-by="failure"]')).toHaveCount(1);
    await api().untilStatus(id, "idle");
    if (!scripts) await page.reload();

    await page.locator(".conversation-end summary").click();
    await page.locator(".conversation-end").getByRole("button", { name: "No" }).click();
    await expect(page.locator(".conversation-ended")).toContainText("The conversation has ended.");
    await expect(page.locator(".conversation-ended")).toContainText("4 messages in");
    await expect(page.locator(".conversation-summary")).toContainText("Heard message 3.");
    await expect(page.locator("#rating")).toContainText("You said that this did not help.");
    await expect(page.locator(".conversation-facts")).toContainText("1 rating");
    await page.locator("#rating").getByRole("button", { name: "Undo" }).click();
    await expect(page.locator("#rating")).toContainText("Did this help?");
    await expect(page.locator(".conversation-facts")).toContainText("0 ratings");
    await expect(composer(page)).toHaveCount(0);
    await page.goto("/chat");
    await expect(page.locator(`.row a[href="/chat/${id}"]`)).toBeVisible();
  } finally {
    await worker.stop();
  }
});

test("the question at the end of a conversation takes its keys, and only while it is open", async ({ page }) => {
  const agent = await clerk("keys");
  await signIn(page, "operator");
  const id = await begin(page, agent, "Hello");
  await hydrated(page);
  await page.locator("h1").click();
  // A key that applies nowhere on the page does nothing.
  await page.keyboard.press("y");
  await expect(page.locator(".conversation-end details")).not.toHaveAttribute("open");
  await page.locator(".conversation-end summary").click();
  const yes = page.locator(".conversation-end").getByRole("button", { name: "Yes" });
  await expect(yes).toBeFocused();
  expect(await yes.evaluate((button) => getComputedStyle(button, "::after").content)).toContain('"y"');
  expect((await api().session(id)).status).toBe("pending");
  await expectAccessible(page, "the question at the end");
  await page.keyboard.press("n");
  await expect(page.locator(".conversation-ended")).toBeVisible();
  await expect(page.locator(".conversation-facts")).toContainText("1 rating");
});

test("what is typed stays while the agent works, while it is refused and while the server is away", async ({ page }) => {
  const agent = await clerk("typed");
  await signIn(page, "operator");
  const id = await begin(page, agent, "Work for a while");
  await hydrated(page);
  await expect(page.locator("#conversation")).toContainText(`Waiting for ${agent}`);
  await composer(page).fill("Typed ahead");
  const { attempt } = await api().claim(agent, 600);
  await expect(page.locator("#conversation")).toContainText(`${agent} is thinking`);
  await expect(composer(page)).toHaveValue("Typed ahead");
  await expect(composer(page)).toBeFocused();
  await expect(page.getByRole("button", { name: "Send", exact: true })).toBeHidden();
  await api().append(id, attempt, [{ type: "agent.message", content: [{ type: "text", text: "Half way" }] }]);
  await expect(page.locator("#conversation")).toContainText("Half way");
  await expect(composer(page)).toHaveValue("Typed ahead");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator("#conversation")).toContainText("You stopped this turn.");
  await expect(composer(page)).toHaveValue("Typed ahead");

  // The server does not respond: the page says so, and the same button later sends the message once.
  await page.route("**/fn/chat/send", (route) => route.abort());
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page.locator("#composer-said")).toHaveText("The server cannot be reached.");
  await expect(composer(page)).toHaveValue("Typed ahead");
  await page.unroute("**/fn/chat/send");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await expect(page.locator('.message[data-by="person"]').last()).toContainText("Typed ahead");
  await expect(composer(page)).toHaveValue("");
  await expect(page.locator("#composer-said")).toBeEmpty();

  // The conversation is ended by someone else while the person types.
  await composer(page).fill("Never sent");
  await api().post(`/api/sessions/${id}/cancel`, {});
  await expect(page.locator(".conversation-ended")).toBeVisible();
  await expect(composer(page)).toHaveValue("Never sent");
  await expect(page.locator(".composer-late")).toBeVisible();
});

test("the list and a conversation in every state have no axe violation and fit a phone", async ({ page }) => {
  test.slow();
  const look = (what: string) => expectAccessible(page, what);
  const agent = await clerk("looks");
  await signIn(page, "operator");
  await page.goto("/chat");
  await look("the list");
  const id = await begin(page, agent, `A long message ${"x".repeat(400)}`);
  await hydrated(page);
  await expect(page.locator("#conversation")).toContainText(`Waiting for ${agent}`);
  await look("a queued one");
  const { attempt } = await api().claim(agent, 600);
  await expect(page.locator("#conversation")).toContainText(`${agent} is thinking`);
  await look("a thinking one");
  const text = (value: string) => [{ type: "text", text: value }];
  await api().append(id, attempt, [
    { type: "agent.message", content: text(`# Found\n\n- one\n\n| a | b |\n|---|---|\n| ${"y".repeat(200)} | 2 |\n\nשלום 🧪`) },
    { type: "session.error", content: text("no such model") },
  ]);
  await api().yield(id, attempt, "idle");
  await expect(page.locator("#conversation")).toContainText("Nothing is lost");
  await look("one that failed");
  await page.locator(".conversation-end summary").click();
  await look("one that is about to end");
  await page.locator(".conversation-end").getByRole("button", { name: "End without rating" }).click();
  await expect(page.locator(".conversation-ended")).toBeVisible();
  await expect(page.locator("#rating")).toHaveCount(0);
  await look("one that has ended");
});

test("the keyboard reaches the conversations, and the list follows them", async ({ page }) => {
  const agent = await clerk("keys");
  await signIn(page, "operator");
  const id = await begin(page, agent, "Hello");
  await page.goto("/today");
  await hydrated(page);
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await expect(page).toHaveURL(/\/chat$/);
  await hydrated(page);
  const row = page.locator(`[data-session-id="${id}"]`);
  await expect(row).toContainText(/pending/i);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const { attempt } = await api().claim(agent, 600);
  await expect(row).toContainText(/running/i);
  await api().yield(id, attempt, "idle");
  await expect(row).toContainText(/idle/i);
});

test("what happened between a page and its stream is shown when the stream opens", async ({ page }) => {
  const agent = await clerk("gap");
  await signIn(page, "operator");
  const id = await begin(page, agent, "Hello");
  let open = () => {};
  const opened = new Promise<void>((done) => (open = done));
  await page.route("**/api/live", async (route) => {
    await opened;
    await route.continue();
  });
  await page.goto("/chat");
  await hydrated(page);
  const row = page.locator(`[data-session-id="${id}"]`);
  await expect(row).toContainText(/pending/i);
  const { attempt } = await api().claim(agent, 600);
  open();
  await expect(row).toContainText(/running/i);
  await api().complete(id, attempt);
});

test("an answer that comes late does not replace a newer one", async ({ page }) => {
  const agent = await clerk("late");
  await signIn(page, "operator");
  const id = await begin(page, agent, "Hello");
  await hydrated(page);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  let hold = (_: Request) => {};
  const held = new Promise<Request>((done) => (hold = done));
  await page.route(
    "**/chat/*/live*",
    async (route) => {
      const answer = await route.fetch();
      hold(route.request());
      await released;
      await route.fulfill({ response: answer });
    },
    { times: 1 },
  );
  const { attempt } = await api().claim(agent, 600);
  // The server answers before the reply is written, and the page gets that answer after the next one.
  const first = await held;
  await api().append(id, attempt, [{ type: "agent.message", content: [{ type: "text", text: "The reply" }] }]);
  await expect(page.locator("#conversation")).toContainText("The reply");
  const finished = page.waitForEvent("requestfinished", (request) => request === first);
  release();
  await finished;
  // What the page does with an answer is done before it has the answer of a later request.
  await page.evaluate(async () => void (await (await fetch("/api/me")).text()));
  expect(await page.locator("#conversation").textContent()).toContain("The reply");
  await api().yield(id, attempt, "idle");
});

test("a reply whose reading fails is shown all the same", async ({ page }) => {
  const agent = await clerk("again");
  await signIn(page, "operator");
  const id = await begin(page, agent, "Hello");
  await hydrated(page);
  await expect(page.locator(".connection")).toHaveAttribute("data-state", "live");
  const { attempt } = await api().claim(agent, 600);
  await expect(page.locator("#conversation")).toContainText(`${agent} is thinking`);
  let failed = 0;
  await page.route("**/chat/*/live*", async (route) => {
    const answer = await route.fetch();
    if (failed > 0 || !(await answer.text()).includes("The reply")) return route.fulfill({ response: answer });
    failed += 1;
    await route.abort();
  });
  // One signal comes, and none after it.
  await api().append(id, attempt, [{ type: "agent.message", content: [{ type: "text", text: "The reply" }] }]);
  await expect(page.locator("#conversation")).toContainText("The reply", { timeout: 15_000 });
  expect(failed).toBe(1);
  await api().yield(id, attempt, "idle");
});

test("a message right after another is recorded once, although its answer is lost", async ({ page }) => {
  const agent = await clerk("quick");
  await signIn(page, "operator");
  const id = await begin(page, agent, "Hello");
  await hydrated(page);
  const turn = async () => {
    const { attempt } = await api().claim(agent, 600);
    await api().yield(id, attempt, "idle");
  };
  await turn();
  const send = page.getByRole("button", { name: "Send", exact: true });
  await expect(send).toBeVisible();
  // From now on the page learns nothing of the server but the answers to what it sends.
  await page.route("**/chat/*/live*", (route) => route.abort());
  await composer(page).fill("One");
  await send.click();
  await expect(composer(page)).toHaveValue("");
  await turn();
  await page.route(
    "**/fn/chat/send",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await composer(page).fill("Two");
  await send.click();
  await expect(page.locator("#composer-said")).toHaveText("The server cannot be reached.");
  await turn();
  await send.click();
  await expect(composer(page)).toHaveValue("");
  const log = await api().get<{ events: { content: { text: string }[] }[] }>(`/api/sessions/${id}/events?eventTypes=user.message`);
  expect(log.events.map(({ content }) => content[0]!.text)).toEqual(["Hello", "One", "Two"]);
});
