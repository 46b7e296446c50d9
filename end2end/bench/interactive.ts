/**
 * What a page costs until it is interactive: main-thread CPU time (thread ticks, so other processes do not count) from
 * the start of a navigation until every island works. Today and the inbox, as an admin of a workspace with some rows.
 */
import { type CDPSession } from "@playwright/test";
import { api, expect, signIn, test } from "../support";
import { report } from "./figures";

const NAVIGATIONS = Number(process.env.SHIFTBOOK_BENCH_NAVIGATIONS ?? 30);
const ITEMS = 60;

const sorted = (figures: number[]) => figures.toSorted((a, b) => a - b);
const at = (figures: number[], share: number) => sorted(figures)[Math.floor(figures.length * share)]!;

async function busyMs(session: CDPSession) {
  const { metrics } = await session.send("Performance.getMetrics");
  const value = (name: string) => (metrics.find((metric) => metric.name === name)?.value ?? 0) * 1000;
  return { all: value("TaskDuration"), script: value("ScriptDuration") };
}

test("CPU from navigation start to interactive", async ({ page }) => {
  test.setTimeout(600_000);
  const agentSlug = "interactive";
  const action = await api().createAction({ name: "Measured", agentSlug, outputType: "text", metadata: { requiresApproval: true } });
  for (let n = 0; n < ITEMS; n++) {
    const session = await api().trigger(action.id);
    const claim = await api().claim(agentSlug);
    await api().complete(session.id, claim.attempt, `Report ${n}`);
  }
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await signIn(page, "reviewer");
  for (const path of ["/today", "/inbox"]) {
    const all: number[] = [];
    const script: number[] = [];
    for (let n = 0; n < NAVIGATIONS + 3; n++) {
      await page.goto("about:blank");
      await page.goto(path);
      await expect(page.locator("html")).toHaveAttribute("data-ready", "");
      const busy = await busyMs(session);
      // The first navigations compile and fill caches.
      if (n < 3) continue;
      all.push(busy.all);
      script.push(busy.script);
    }
    const quartiles = (figures: number[]) => `quartiles ${at(figures, 0.25).toFixed(1)} to ${at(figures, 0.75).toFixed(1)} ms`;
    const ofScript = `script ${at(script, 0.5).toFixed(1)} ms (${quartiles(script)})`;
    const facts = `median of ${NAVIGATIONS}, ${quartiles(all)}; ${ofScript}`;
    report([{ what: `CPU time until ${path} is interactive`, unit: "ms", ours: at(all, 0.5), facts }]);
  }
});
