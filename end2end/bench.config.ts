import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

/** Measurements, run by hand: `SHIFTBOOK_BIN=… npx playwright test --config bench.config.ts`. They print, they do not judge. */
export default defineConfig({ ...config, testDir: "bench", testMatch: /.*\.ts/, retries: 0, reporter: [["list"]], projects: [{ name: "js" }] });
