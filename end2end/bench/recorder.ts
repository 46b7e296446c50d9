/** What the recorder costs a page: main-thread time of a navigation with it and without it, and of recording alone. */
import { type CDPSession } from "@playwright/test";
import { quiet, test } from "../support";
import { awake, begin, signInIdle, taskFor, visit } from "../working";

const NAVIGATIONS = 40;
const RECORDINGS = 300;
const PAUSED = "shiftbook-recorder-paused";

async function busyMs(session: CDPSession) {
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? 0) * 1000;
  return { task: value("TaskDuration"), script: value("ScriptDuration") };
}

const median = (figures: number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1]!;

test("recorder cost", async ({ page }) => {
  test.setTimeout(600_000);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await signInIdle(page, "operator");
  await begin(page, await taskFor(page, "Measured"));
  await awake(page, "/actions");

  // Whole navigations, by turns with recording on and off.
  const navigation = { recording: [] as number[], paused: [] as number[] };
  for (let n = 0; n < NAVIGATIONS * 2; n++) {
    const paused = n % 2 === 1;
    await page.evaluate(([key, off]) => (off ? localStorage.setItem(key!, "1") : localStorage.removeItem(key!)), [PAUSED, paused] as const);
    if (paused) await awake(page, "/actions");
    else await visit(page, "/actions");
    await quiet(page);
    navigation[paused ? "paused" : "recording"].push((await busyMs(session)).script);
  }

  // Recording alone, many times on one page: what the back/forward cache sets off, with recording on and off.
  const alone: Record<string, number> = {};
  for (const paused of [true, false]) {
    await page.evaluate(([key, off]) => (off ? localStorage.setItem(key!, "1") : localStorage.removeItem(key!)), [PAUSED, paused] as const);
    await awake(page, "/actions");
    await quiet(page);
    const before = await busyMs(session);
    await page.evaluate(async (times) => {
      for (let n = 0; n < times; n++) {
        window.dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
        await new Promise((wake) => setTimeout(wake, 15));
      }
    }, RECORDINGS);
    await quiet(page);
    const after = await busyMs(session);
    alone[paused ? "paused" : "recording"] = (after.task - before.task) / RECORDINGS;
  }
  console.log(
    `script time of a navigation, median of ${NAVIGATIONS}: recording ${median(navigation.recording).toFixed(2)} ms, paused ${median(navigation.paused).toFixed(2)} ms\n` +
      `main-thread time of one recording, mean of ${RECORDINGS}: ${(alone.recording! - alone.paused!).toFixed(3)} ms`,
  );
});
