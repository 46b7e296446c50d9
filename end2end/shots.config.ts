import { defineConfig } from "@playwright/test";
import config from "./playwright.config";

/** Pictures for README and docs, of a server that `cargo xtask shots` has started. */
export default defineConfig({
  ...config,
  testDir: "shots",
  testMatch: /.*\.ts/,
  // The base configuration's set-up starts servers of its own.
  globalSetup: undefined,
  workers: 1,
  retries: 0,
  reporter: [["list"]],
  projects: [{ name: "js" }],
});
