import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { defineConfig, devices } from "@playwright/test";

/**
 * The system's Chromium, if there is one: Playwright's own cannot be downloaded on closed networks. The build without
 * windows comes first. It is what Playwright runs by itself, and it opens pages several times faster.
 */
const SYSTEM_CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);

const isRoot = userInfo().uid === 0;

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  globalSetup: "./setup.ts",
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: false,
  // Each worker has its own server. A test spends about half of its time waiting for the server and the browser.
  workers: 2,
  // A test that passes only at a second attempt is a bug of the product or of the test. CI tries once more and names it,
  // so that one such test does not hide what the others found.
  retries: process.env.CI ? 1 : 0,
  timeout: 90_000,
  // Generous timeouts, because two browsers and two servers may share two cores. No test asserts a time.
  expect: { timeout: 20_000 },
  reporter: [["list"], ["json", { outputFile: process.env.PLAYWRIGHT_JSON_OUTPUT_FILE ?? "../target/e2e/results.json" }]],
  use: {
    ...devices["Desktop Chrome"],
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    // Recording a trace slows a test down: `--trace retain-on-failure` records them.
    trace: "off",
    screenshot: "only-on-failure",
    // Drawing the frames of animations without a graphics card took a seventh of the processor time. Specs of stories
    // turn them on again.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      ...(SYSTEM_CHROMIUM ? { executablePath: SYSTEM_CHROMIUM } : {}),
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
    // What a reviewer must be able to do works without scripts: specs tagged @nojs run a second time without them.
    { name: "no-js", grep: /@nojs/, use: { javaScriptEnabled: false } },
  ],
});
