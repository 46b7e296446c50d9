/**
 * Takes the screenshots of README and docs. Environment variables name the server with the demo workspace, the
 * person who signs in, and the output folder.
 */
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";

const SIZE = { width: 1280, height: 860 };
/** Twice the pixels, so that text is sharp when a page scales the picture. */
const SCALE = 2;
const SCHEMES = ["light", "dark"] as const;

function requiredEnv(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`cargo xtask shots\``);
  return value;
}

const url = requiredEnv("SHIFTBOOK_SHOTS_URL");
const folder = requiredEnv("SHIFTBOOK_SHOTS_FOLDER");

async function signIn(page: Page) {
  await page.goto(`${url}/sign-in`);
  await page.locator("input[name=email]").fill(requiredEnv("SHIFTBOOK_SHOTS_EMAIL"));
  await page.locator("input[name=password]").fill(requiredEnv("SHIFTBOOK_SHOTS_PASSWORD"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/today/);
}

/** Opens a page of the demo by following a link. */
const pages: Record<string, (page: Page) => Promise<unknown>> = {
  today: (page) => page.goto(`${url}/today`),
  inbox: (page) => page.goto(`${url}/inbox`),
  session: async (page) => {
    await page.goto(`${url}/sessions`);
    await page.getByRole("link", { name: /Find a word/ }).first().click();
    await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]{36}/);
  },
};

for (const scheme of SCHEMES) {
  test.describe(scheme, () => {
    test.use({ colorScheme: scheme, viewport: SIZE, deviceScaleFactor: SCALE, contextOptions: { reducedMotion: "reduce" } });
    for (const [name, open] of Object.entries(pages)) {
      test(`${name}, ${scheme}`, async ({ page }) => {
        await signIn(page);
        await open(page);
        await expect(page.getByRole("main")).toBeVisible();
        // The page is complete when its scripts run and its live stream is open.
        await expect(page.locator(".connection[data-state=live]").first()).toBeAttached();
        await page.screenshot({ path: join(folder, `${name}-${scheme}.png`), animations: "disabled" });
      });
    }
  });
}
