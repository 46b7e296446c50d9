/** A tab that stays open for a working day: what live updates leave behind. */
import { type CDPSession, type Page } from "@playwright/test";
import { api, emptyInbox, expect, hydrated, signIn, test } from "../support";

const UPDATES = 2_000;
/** Updates of the pages whose updates take several times as long. A node that stays from each is noticed all the same. */
const FEWER_UPDATES = 400;
/** Updates before the first figure: whatever is made once is made by then. */
const WARM_UP = 200;

interface Held {
  nodes: number;
  listeners: number;
  heap: number;
  wasm: number;
}

/** What a test gives the page. */
interface Given {
  wasmMemory?: WebAssembly.Memory;
  /** Answers a request of the page. `ask` sends it to the server. */
  answer?: (url: URL, ask: () => Promise<Response>) => Promise<Response>;
  /** The message of the live stream that announces the next update. */
  signal: () => string;
  /** What is different once an update is shown. */
  shown: () => string;
  /** Rows that come with an update. */
  step: number;
}

/** What the page holds after everything that can be collected is gone. */
async function held(page: Page, session: CDPSession): Promise<Held> {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name: string) => metrics.find((metric) => metric.name === name)!.value;
  const wasm = await page.evaluate(() => (window as unknown as Given).wasmMemory!.buffer.byteLength);
  return { nodes: value("Nodes"), listeners: value("JSEventListeners"), heap: value("JSHeapUsedSize"), wasm };
}

/** Signals a change as often, and waits until each is shown. */
const update = (page: Page, times: number) =>
  page.evaluate(async (count) => {
    const given = window as unknown as Given;
    const stream = new BroadcastChannel("shiftbook-live");
    for (let n = 0; n < count; n++) {
      const before = given.shown();
      stream.postMessage(given.signal());
      const begun = performance.now();
      while (given.shown() === before) {
        if (performance.now() - begun > 10_000) throw new Error(`update ${n} is not shown`);
        await new Promise((wake) => setTimeout(wake, 1));
      }
    }
    stream.close();
  }, times);

/** Before a page is opened: makes its memory known and its waits short, and lets the test answer its requests. */
const prepare = (page: Page) =>
  page.addInitScript(() => {
    const given = window as unknown as Given;
    // What is gathered for a moment is read at once.
    const later = window.setTimeout;
    Object.assign(window, { setTimeout: (call: TimerHandler, millis = 0, ...rest: unknown[]) => later(call, millis < 2_000 ? 0 : millis, ...rest) });
    const instantiate = WebAssembly.instantiateStreaming;
    WebAssembly.instantiateStreaming = async (...from) => {
      const made = await instantiate(...from);
      const { memory } = made.instance.exports;
      if (memory instanceof WebAssembly.Memory) given.wasmMemory = memory;
      return made;
    };
    // Answers from inside of the page: over the network, some requests for each update would be most of the test.
    const fetched = window.fetch.bind(window);
    window.fetch = (input, init) => {
      const ask = () => fetched(input, init);
      return given.answer ? given.answer(new URL(input instanceof Request ? input.url : input, location.href), ask) : ask();
    };
  });

/** Compares what the page holds before and after the updates, which lead back to the state after `warmUp`. */
async function expectFlat(page: Page, updates: number, warmUp: () => Promise<void>) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  await warmUp();
  const before = await held(page, session);
  await update(page, updates);
  const after = await held(page, session);
  console.log(`after the warm-up ${JSON.stringify(before)}, after ${updates} updates ${JSON.stringify(after)}`);
  // One row more or less is some thirty nodes; anything that stays from each update is thousands.
  expect(after.nodes - before.nodes).toBeLessThan(200);
  expect(after.listeners - before.listeners).toBeLessThan(50);
  expect(after.heap - before.heap).toBeLessThan(1024 * 1024);
  // The allocator may need some pages more; 128 bytes left by each update are over this.
  expect(after.wasm - before.wasm).toBeLessThanOrEqual(4 * 64 * 1024);
}

/** Three outputs that wait for approval, of an agent each, so that no list folds them into one row. */
async function waiting(agentSlug: string) {
  await emptyInbox();
  for (let n = 0; n < 3; n++) {
    const own = `${agentSlug}-${n}`;
    const action = await api().createAction({ name: "Hold", agentSlug: own, outputType: "text", metadata: { requiresApproval: true } });
    const session = await api().trigger(action.id);
    const claim = await api().claim(own);
    await api().complete(session.id, claim.attempt, `Report ${n}`);
  }
}

/** Each update is signalled as one of the counts, and shows a row more or a row less. */
const followRows = (page: Page, rows: string) =>
  page.evaluate((selector) => {
    Object.assign(window, { signal: () => "counts ", shown: () => String(document.querySelectorAll(selector).length) });
  }, rows);

test("the memory of an inbox is the same after 2,000 live updates", async ({ page }) => {
  test.setTimeout(240_000);
  const agentSlug = `memory-${Date.now().toString(36)}`;
  await waiting(agentSlug);
  await prepare(page);
  await signIn(page, "reviewer");
  await page.goto("/inbox");
  await hydrated(page);
  await page.evaluate((agent) => {
    const given = window as unknown as Given;
    const texts = new Map<string, Promise<string>>();
    let answers = 0;
    given.answer = async ({ pathname }, ask) => {
      if (/^\/inbox\/extra-\d+\/detail$/.test(pathname)) return new Response("", { status: 404 });
      if (!/^\/(inbox\/list|inbox\/[^/]+\/detail|api\/approvals\/count)$/.test(pathname)) return ask();
      // What the server has is the same all the time, so it is asked once.
      const text = texts.get(pathname) ?? ask().then((response) => response.text());
      texts.set(pathname, text);
      if (pathname !== "/inbox/list") return new Response(await text);
      answers++;
      const list = (await text).replaceAll(agent, `${agent} ${answers}`);
      const row = list.match(/<li [^>]*class="inbox-row">(?:(?!<\/li>).)*<\/li>/s)![0];
      const more = row.replaceAll(/data-id="[^"]+"/g, `data-id="extra-${answers}"`);
      return new Response(answers % 2 ? list.replace(row, row + more) : list);
    };
  }, agentSlug);
  await followRows(page, "#inbox-rows > [data-id]");
  await expectFlat(page, UPDATES, () => update(page, WARM_UP));
});

test("the memory of Today is the same after 400 live updates", async ({ page }) => {
  test.setTimeout(240_000);
  const agentSlug = `today-${Date.now().toString(36)}`;
  await waiting(agentSlug);
  await prepare(page);
  await signIn(page, "reviewer");
  await page.goto("/today?assignedTo=all");
  await hydrated(page);
  await expect(page.locator("[data-section=needs_me] [data-key-id]").first()).toBeVisible();
  await page.evaluate((agent) => {
    const given = window as unknown as Given;
    const texts = new Map<string, Promise<string>>();
    let answers = 0;
    given.answer = async ({ pathname }, ask) => {
      if (!/^\/(today|api\/today|api\/approvals\/count)(\/|$)/.test(pathname)) return ask();
      // What the server has is the same all the time, so it is asked once.
      const text = texts.get(pathname) ?? ask().then((response) => response.text());
      texts.set(pathname, text);
      if (pathname.endsWith("-counts")) {
        return new Response((await text).replaceAll(/:(\d+)/g, (_, figure) => `:${Number(figure) + (answers % 2)}`));
      }
      if (pathname !== "/today/section/needs_me") return new Response(await text);
      answers++;
      const section = document.createElement("template");
      section.innerHTML = (await text).replaceAll(agent, `${agent} ${answers}`);
      const row = section.content.querySelector<HTMLElement>("[data-key-id]")!;
      if (answers % 2) {
        const more = row.cloneNode(true) as HTMLElement;
        more.dataset.keyId = `extra-${answers}`;
        row.after(more);
      }
      return new Response(section.innerHTML);
    };
  }, agentSlug);
  await followRows(page, "[data-section=needs_me] [data-key-id]");
  await expectFlat(page, FEWER_UPDATES, () => update(page, WARM_UP));
});

test("the memory of a running transcript is the same after 400 live updates with a row each", async ({ page }) => {
  test.setTimeout(240_000);
  const agentSlug = `transcript-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: "Report", agentSlug });
  const { id } = await api().trigger(action.id);
  const { attempt } = await api().claim(agentSlug, 600);
  await api().append(id, attempt, [{ type: "agent.message", content: [{ type: "text", text: "Step 0 is done." }] }]);
  await prepare(page);
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  await expect(page.locator(".transcript > li").last()).toContainText("Step 0 is done.");
  await page.evaluate(
    ({ session, agent }) => {
      const given = window as unknown as Given;
      const last = () => document.querySelector<HTMLElement>(".transcript > li:last-child")!;
      const [model, from] = [last().outerHTML, last().dataset.sequence!];
      let head = Number(from);
      let summary: Promise<string> | undefined;
      const row = (n: number) =>
        model.replaceAll(`seq-${from}`, `seq-${n}`).replace(`data-sequence="${from}"`, `data-sequence="${n}"`).replaceAll("Step 0", `Step ${n}`);
      given.step = 10;
      given.signal = () => {
        head += given.step;
        return `session ${JSON.stringify({ sessionId: session, headSequence: head, status: "running" })}`;
      };
      given.shown = () => last().dataset.sequence!;
      given.answer = async ({ pathname, searchParams }, ask) => {
        if (pathname === `/sessions/${session}/summary`) {
          summary ??= ask().then((response) => response.text());
          return new Response((await summary).replaceAll(agent, `${agent} ${head}`));
        }
        if (pathname !== `/sessions/${session}/rows`) return ask();
        const after = Number(searchParams.get("afterSequence"));
        const rows = Array.from({ length: head - after }, (_, n) => row(after + 1 + n)).join("");
        const figures = { "x-last-sequence": String(head), "x-head-sequence": String(head), "x-has-more": "false", "x-status": "running" };
        return new Response(rows, { headers: figures });
      };
    },
    { session: id, agent: agentSlug },
  );
  await expectFlat(page, FEWER_UPDATES, async () => {
    // A page keeps 2,000 rows at most, and drops 400 beyond them. 400 rows more then lead to as many rows again.
    await update(page, WARM_UP);
    await page.evaluate(() => void ((window as unknown as Given).step = 1));
    expect(await page.locator(".transcript > li").count()).toBeLessThan(2_000);
  });
  await api().complete(id, attempt);
});
