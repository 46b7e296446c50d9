/** What a browser downloads on a first visit, as it comes over the network. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Page } from "@playwright/test";
import { ROOT } from "../environment";
import { expect, hydrated, signIn, test } from "../support";

interface Budgets {
  pages: { path: string; kib: number }[];
}

/** The budgets that `cargo xtask test --only budget` holds the files to, with an allowance for HTML. */
const budgets = JSON.parse(readFileSync(join(ROOT, "xtask/src/site/budget.json"), "utf8")) as Budgets;

/**
 * Loads a page without a cache, until its islands work. Returns path → bytes over the network, of the page itself
 * and of the files of the site. What is fetched later, when the browser has nothing else to do, does not count.
 */
async function download(page: Page, path: string) {
  const network = await page.context().newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.addInitScript(() => document.addEventListener("shiftbook-ready", () => performance.mark("shiftbook-ready"), { once: true }));
  await page.goto(path);
  await hydrated(page);
  return page.evaluate(() => {
    const ready = performance.getEntriesByName("shiftbook-ready")[0]!.startTime;
    const loads = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")] as PerformanceResourceTiming[];
    const sizes: Record<string, number> = {};
    for (const { name, startTime, transferSize } of loads) {
      const { pathname } = new URL(name);
      const counts = pathname === location.pathname || pathname.startsWith("/pkg/");
      if (counts && startTime <= ready) sizes[pathname] = (sizes[pathname] ?? 0) + transferSize;
    }
    return sizes;
  });
}

for (const { path, kib } of budgets.pages) {
  test(`a first visit to ${path} stays within its budget`, async ({ page }, info) => {
    await signIn(page, "reviewer");
    const sizes = await download(page, path);
    const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
    const list = Object.entries(sizes).map(([name, size]) => `${name} ${size}`).join("\n");
    await info.attach("sizes", { body: list });
    // The page, its styles, its script, the core and at least one part.
    expect(sizes[path], list).toBeGreaterThan(0);
    expect(Object.keys(sizes).filter((name) => name.endsWith(".css")), list).toHaveLength(1);
    expect(Object.keys(sizes).filter((name) => name.endsWith(".wasm")).length, list).toBeGreaterThan(1);
    expect(Object.values(sizes).every((size) => size > 0), list).toBe(true);
    expect(total, list).toBeLessThanOrEqual(kib * 1024);
  });
}
