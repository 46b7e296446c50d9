/** A tab that stays open for a working day: what live updates leave behind. */
import { type CDPSession, type Page } from "@playwright/test";
import { api, expect, hydrated, signIn, test } from "../support";

const UPDATES = 2_000;
/** Updates before the first figure: whatever is made once is made by then. */
const WARM_UP = 200;

interface Held {
  nodes: number;
  listeners: number;
  heap: number;
  wasm: number;
}

/** What the page holds after everything that can be collected is gone. */
async function held(page: Page, session: CDPSession): Promise<Held> {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name: string) => metrics.find((metric) => metric.name === name)!.value;
  const wasm = await page.evaluate(() => (window as unknown as { wasmMemory?: WebAssembly.Memory }).wasmMemory!.buffer.byteLength);
  return { nodes: value("Nodes"), listeners: value("JSEventListeners"), heap: value("JSHeapUsedSize"), wasm };
}

/** Signals a change as often, each time with another list: a row more, then a row less, with other texts. */
const update = (page: Page, times: number) =>
  page.evaluate(async (count) => {
    const stream = new BroadcastChannel("shiftbook-live");
    const rows = () => document.querySelectorAll("#inbox-rows > [data-id]").length;
    for (let n = 0; n < count; n++) {
      const before = rows();
      stream.postMessage("counts ");
      const begun = performance.now();
      while (rows() === before) {
        if (performance.now() - begun > 10_000) throw new Error(`update ${n} is not shown`);
        await new Promise((wake) => setTimeout(wake, 1));
      }
    }
    stream.close();
  }, times);

test("the memory of an inbox is the same after 2,000 live updates", async ({ page }) => {
  test.setTimeout(240_000);
  const { items: left } = await api().get<{ items: { sessionId: string }[] }>("/api/approvals?assignedTo=all&limit=500");
  for (const { sessionId } of left) await api().post(`/api/sessions/${sessionId}/cancel`, {});
  const agentSlug = `memory-${Date.now().toString(36)}`;
  // Of an agent each, so that the list does not fold them into one row.
  for (let n = 0; n < 3; n++) {
    const own = `${agentSlug}-${n}`;
    const action = await api().createAction({ name: "Hold", agentSlug: own, outputType: "text", metadata: { requiresApproval: true } });
    const session = await api().trigger(action.id);
    const claim = await api().claim(own);
    await api().complete(session.id, claim.attempt, `Report ${n}`);
  }
  await page.addInitScript(() => {
    // What is gathered for a moment is read at once.
    const later = window.setTimeout;
    Object.assign(window, { setTimeout: (call: TimerHandler, millis = 0, ...rest: unknown[]) => later(call, millis < 2_000 ? 0 : millis, ...rest) });
    const instantiate = WebAssembly.instantiateStreaming;
    WebAssembly.instantiateStreaming = async (...from) => {
      const made = await instantiate(...from);
      const { memory } = made.instance.exports;
      if (memory instanceof WebAssembly.Memory) Object.assign(window, { wasmMemory: memory });
      return made;
    };
  });
  await signIn(page, "reviewer");
  let answers = 0;
  // The server's list is the same all the time, so it is asked for once.
  let html = "";
  await page.route("**/inbox/list?*", async (route) => {
    html ||= await (await route.fetch()).text();
    answers++;
    const texts = html.replaceAll(agentSlug, `${agentSlug} ${answers}`);
    const row = texts.match(/<li [^>]*class="inbox-row">(?:(?!<\/li>).)*<\/li>/s)![0];
    const body = answers % 2 ? texts.replace(row, row + row.replaceAll(/data-id="[^"]+"/g, `data-id="extra-${answers}"`)) : texts;
    await route.fulfill({ contentType: "text/html; charset=utf-8", body });
  });
  await page.route("**/inbox/extra-*/detail", (route) => route.fulfill({ status: 404, body: "" }));
  await page.goto("/inbox");
  await hydrated(page);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  await update(page, WARM_UP);
  const before = await held(page, session);
  await update(page, UPDATES);
  const after = await held(page, session);
  console.log(`after ${WARM_UP} updates ${JSON.stringify(before)}, after ${UPDATES} more ${JSON.stringify(after)}`);
  // One row more or less is some thirty nodes; anything that stays from each update is thousands.
  expect(after.nodes - before.nodes).toBeLessThan(200);
  expect(after.listeners - before.listeners).toBeLessThan(50);
  expect(after.heap - before.heap).toBeLessThan(1024 * 1024);
  // The allocator may need some pages more; 128 bytes left by each update are over this.
  expect(after.wasm - before.wasm).toBeLessThanOrEqual(4 * 64 * 1024);
});
