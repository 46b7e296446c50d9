import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

// A trace films the page and copies it after every step: on two cores that costs more than what is measured.
const use = { ...config.use, trace: "off", screenshot: "off" } as const;

/** Measurements, run by hand: `SHIFTBOOK_BIN=… npx playwright test --config bench.config.ts`. They print, they do not judge. */
export default defineConfig({ ...config, use, testDir: "bench", testMatch: /.*\.ts/, workers: 1, retries: 0, reporter: [["list"]], projects: [{ name: "js" }] });
