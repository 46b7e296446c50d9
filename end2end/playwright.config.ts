import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { defineConfig, devices } from "@playwright/test";

/** A Chromium of the system's where there is one: Playwright's own cannot be downloaded on closed networks. */
const SYSTEM_CHROMIUM = "/usr/bin/chromium";

const isRoot = userInfo().uid === 0;

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./setup.ts",
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: false,
  // Each worker has a server of its own. A page waits for its server and its screen about half of the time.
  workers: 2,
  retries: 1,
  timeout: 90_000,
  // Patience, not a limit that is tested: two browsers and two servers share as few as two cores.
  expect: { timeout: 20_000 },
  reporter: [["list"], ["json", { outputFile: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ?? "../target/e2e/results.json" }], ["./flaky.ts"]],
  use: {
    ...devices["Desktop Chrome"],
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    // A trace films the page: not before something failed, or every spec pays for it.
    trace: "on-first-retry",
    screenshot: "only-on-failure",
    launchOptions: {
      ...(existsSync(SYSTEM_CHROMIUM) ? { executablePath: SYSTEM_CHROMIUM } : {}),
      args: [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        ...(isRoot ? ["--no-sandbox"] : []),
      ],
    },
  },
  projects: [
    { name: "js" },
    // What a reviewer must do works without scripts: every spec tagged @nojs runs a second time like that.
    { name: "no-js", grep: /@nojs/, use: { javaScriptEnabled: false } },
  ],
});
