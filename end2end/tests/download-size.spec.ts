/** What a browser downloads on a first visit, as it comes over the network. */
import { type Page } from "@playwright/test";
import { expect, signIn, test } from "../support";

/** The budgets of `xtask/src/site/budget.rs`, which has an allowance for HTML in place of a page. */
const BYTES_MAX = { "/today": 195 * 1024, "/inbox": 210 * 1024 };

/** Fetched when everything works and the browser has nothing else to do. */
const WHEN_IDLE = /^\/pkg\/(palette_dialog|task_chooser|shared_\d+)\./;

/** Loads a page without a cache, until its islands work. Returns path → bytes over the network. */
async function download(page: Page, path: string) {
  const network = await page.context().newCDPSession(page);
  const paths = new Map<string, string>();
  const sizes = new Map<string, number>();
  network.on("Network.responseReceived", ({ requestId, response }) => {
    const { pathname } = new URL(response.url);
    if (pathname === path || (pathname.startsWith("/pkg/") && !WHEN_IDLE.test(pathname))) paths.set(requestId, pathname);
  });
  network.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const name = paths.get(requestId);
    if (name) sizes.set(name, (sizes.get(name) ?? 0) + encodedDataLength);
  });
  await network.send("Network.enable");
  await network.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.goto(path);
  await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  // The browser reports the end of a download after the page has used it.
  await expect.poll(() => new Set(paths.values()).size - sizes.size).toBe(0);
  return sizes;
}

for (const [path, most] of Object.entries(BYTES_MAX)) {
  test(`a first visit to ${path} stays within its budget`, async ({ page }, info) => {
    await signIn(page, "reviewer");
    const sizes = await download(page, path);
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    const list = [...sizes].map(([name, size]) => `${name} ${size}`).join("\n");
    await info.attach("sizes", { body: list });
    expect([...sizes.keys()].filter((name) => name.endsWith(".wasm")).length, list).toBeGreaterThan(1);
    expect(total, list).toBeLessThanOrEqual(most);
  });
}
