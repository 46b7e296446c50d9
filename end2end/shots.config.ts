import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

/** Screenshots for README and docs, of a server that `cargo xtask shots` has started. */
export default defineConfig({
  ...config,
  testDir: "shots",
  testMatch: /.*\.ts/,
  // The global setup of the base configuration starts servers, which are not needed here.
  globalSetup: undefined,
  workers: 1,
  retries: 0,
  reporter: [["list"]],
  projects: [{ name: "js" }],
});
