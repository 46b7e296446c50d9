/**
 * Takes the pictures of README and docs. The environment says where the demo workspace is served, who signs in, and which
 * folder gets the pictures.
 */
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";

const SIZE = { width: 1280, height: 860 };
/** Twice as many pixels, so that text stays sharp where a page scales the picture. */
const SCALE = 2;
const SCHEMES = ["light", "dark"] as const;

function given(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`cargo xtask shots\``);
  return value;
}

const url = given("SHIFTBOOK_SHOTS_URL");
const folder = given("SHIFTBOOK_SHOTS_FOLDER");

async function signIn(page: Page) {
  await page.goto(`${url}/sign-in`);
  await page.locator("input[name=email]").fill(given("SHIFTBOOK_SHOTS_EMAIL"));
  await page.locator("input[name=password]").fill(given("SHIFTBOOK_SHOTS_PASSWORD"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/today/);
}

/** A page of the demo by the link that a person would follow. */
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
        // The page is complete once its scripts run and its live stream is open.
        await expect(page.locator(".connection[data-state=live]").first()).toBeAttached();
        await page.screenshot({ path: join(folder, `${name}-${scheme}.png`), animations: "disabled" });
      });
    }
  });
}
