/**
 * The main-thread CPU time that the recorder costs a page (thread ticks, so other processes do not count).
 *
 * A navigation has three costs, which are measured separately: recording the opened page, sending the queue, and
 * the final request on pagehide. Each is measured many times on one page, compared with the same page while
 * recording is paused. Whole navigations, with and without a session, are measured as a check; they are too noisy
 * to be the result.
 */
import { type CDPSession, type Page } from "@playwright/test";
import { pageLoaded, test } from "../support";
import { report } from "./figures";
import { activeOf, awake, begin, postAs, signInIdle, taskFor, visit, type Task } from "../working";

const NAVIGATIONS = Number(process.env.SHIFTBOOK_BENCH_NAVIGATIONS ?? 40);
const RECORDINGS = 300;
/** What the recording of a navigation may take, sending included. */
const MS_MAX = 1;
const ALONE = 60;
const PAUSED = "shiftbook-recorder-paused";
const LOCK = "shiftbook-recorder";
const SEND_EVERY_MS = 5_000;

async function busyMs(session: CDPSession) {
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? 0) * 1000;
  return { task: value("TaskDuration"), script: value("ScriptDuration") };
}

const sorted = (figures: number[]) => figures.toSorted((a, b) => a - b);
const median = (figures: number[]) => sorted(figures)[figures.length >> 1]!;
/** Median and quartiles. */
const spread = (figures: number[]) =>
  `${median(figures).toFixed(2)} ms (quartiles ${[1, 3].map((quarter) => sorted(figures)[(figures.length * quarter) >> 2]!.toFixed(2)).join(" to ")})`;

async function pause(page: Page, paused: boolean) {
  await page.evaluate(([key, off]) => (off ? localStorage.setItem(key!, "1") : localStorage.removeItem(key!)), [PAUSED, paused] as const);
}

/** Main-thread time used during an action. */
async function timed(page: Page, session: CDPSession, happens: () => Promise<void>) {
  await pageLoaded(page);
  const before = await busyMs(session);
  await happens();
  return (await busyMs(session)).task - before.task;
}

/** Holds the lock for sending, so that the page's own interval sends nothing until it is released. */
const hold = (page: Page) =>
  page.evaluate(
    (name) =>
      new Promise<void>((held) => {
        void navigator.locks.request(name, () => (held(), new Promise<void>((done) => Object.assign(window, { releaseRecorder: done }))));
      }),
    LOCK,
  );
const release = (page: Page) => page.evaluate(() => (window as unknown as { releaseRecorder: () => void }).releaseRecorder());

/** Fires the events of a return from the back/forward cache repeatedly. With `hides`, each event is sent alone. */
const arrive = (page: Page, times: number, everyMs: number, hides = false) =>
  page.evaluate(
    async ([count, pause, hidden]) => {
      const wait = (ms: number) => new Promise((wake) => setTimeout(wake, ms));
      for (let n = 0; n < count; n++) {
        window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
        await wait(pause);
        if (!hidden) continue;
        Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
        document.dispatchEvent(new Event("visibilitychange"));
        Reflect.deleteProperty(document, "hidden");
        await wait(pause);
      }
    },
    [times, everyMs, hides] as const,
  );

async function wholeNavigations(page: Page, session: CDPSession, task: Task) {
  const script = { recording: [] as number[], paused: [] as number[], idle: [] as number[] };
  const whole = { recording: [] as number[], paused: [] as number[], idle: [] as number[] };
  const modes = ["recording", "paused", "idle"] as const;
  for (let n = 0; n < NAVIGATIONS * modes.length; n++) {
    const mode = modes[n % modes.length]!;
    const active = await activeOf(page.context());
    if (mode === "idle" && active) await postAs(page.context(), "/api/sessions/human/stop", { sessionId: active.id });
    if (mode !== "idle" && !active) await begin(page, task);
    await pause(page, mode === "paused");
    if (mode === "recording") await visit(page, "/actions");
    else await awake(page, "/actions");
    await pageLoaded(page);
    const busy = await busyMs(session);
    script[mode].push(busy.script);
    whole[mode].push(busy.task);
  }
  await pause(page, false);
  // The previous mode ended its session, and the next one needs one.
  if (!(await activeOf(page.context()))) await begin(page, task);
  for (const mode of modes) console.log(`a navigation, ${mode}: script ${spread(script[mode])}, all tasks ${spread(whole[mode])}`);
}

test("recorder cost", async ({ page }) => {
  test.setTimeout(900_000);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await signInIdle(page, "operator");
  const task = await taskFor(page, "Measured");
  await begin(page, task);
  await awake(page, "/actions");
  if (NAVIGATIONS > 0) await wholeNavigations(page, session, task);

  const cost = { mixed: 0, recording: 0, sending: 0, alone: 0, leaving: 0 };
  for (const paused of [true, false]) {
    const sign = paused ? -1 : 1;
    const fresh = async () => {
      await pause(page, paused);
      await awake(page, "/actions");
      // Waits until the page's own events are recorded and sent, so that they are not measured.
      await new Promise((wake) => setTimeout(wake, SEND_EVERY_MS + 1_000));
    };
    await fresh();
    cost.mixed += (sign * (await timed(page, session, () => arrive(page, RECORDINGS, 15)))) / RECORDINGS;
    await fresh();
    await hold(page);
    cost.recording += (sign * (await timed(page, session, () => arrive(page, RECORDINGS, 15)))) / RECORDINGS;
    await release(page);
    cost.sending += (sign * (await timed(page, session, () => page.waitForTimeout(SEND_EVERY_MS + 3_000)))) / RECORDINGS;
    await fresh();
    cost.alone += (sign * (await timed(page, session, () => arrive(page, ALONE, 60, true)))) / ALONE;
    await fresh();
    await hold(page);
    await arrive(page, 1, 300);
    const leave = () => page.evaluate(async (count) => {
      for (let n = 0; n < count; n++) {
        window.dispatchEvent(new Event("pagehide"));
        await new Promise((wake) => setTimeout(wake, 60));
      }
    }, ALONE);
    cost.leaving += (sign * (await timed(page, session, leave))) / ALONE;
    await release(page);
  }
  const facts = [
    `mean of ${RECORDINGS}, recording minus paused`,
    `without sending ${cost.recording.toFixed(3)} ms`,
    `sending per event in requests of 100 ${cost.sending.toFixed(3)} ms`,
    `each page sent alone ${cost.alone.toFixed(3)} ms`,
    `the hint of a page that goes away ${cost.leaving.toFixed(3)} ms`,
  ];
  report([{ what: "main-thread time of a navigation's recording", unit: "ms", ours: cost.mixed, atMost: MS_MAX, facts: facts.join("; ") }]);
});
