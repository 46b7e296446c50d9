import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

// A trace records every step, which on two cores costs more than what is measured.
// With animations, as most people see the pages.
const contextOptions = { reducedMotion: "no-preference" } as const;
const use = { ...config.use, trace: "off", screenshot: "off", contextOptions } as const;

/**
 * Benchmarks, run by hand: `SHIFTBOOK_BIN=… npx playwright test --config bench.config.ts`. They print figures and
 * assert no limits.
 */
export default defineConfig({ ...config, use, testDir: "bench", testMatch: /.*\.ts/, workers: 1, retries: 0, reporter: [["list"]], projects: [{ name: "js" }] });
