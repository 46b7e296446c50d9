/**
 * Takes the screenshots of README and docs. Environment variables name the server with the demo workspace, the
 * person who signs in, the form that strangers answer, the widths, and the output folder.
 */
import { join } from "node:path";
import { type Browser, expect, type Page, test } from "@playwright/test";

const HEIGHT = 860;
/** The width of the pictures without a width in their names. */
const USUAL_WIDTH = 1280;
/** Twice the pixels, so that text is sharp when a page scales the picture. */
const SCALE = 2;
const SCHEMES = ["light", "dark"] as const;
const FORM = "How do you like the demo?";
/** What strangers answer, so that the table and the charts of responses have something to show. */
const ANSWERS = [
  { mood: "5", name: "Ada" },
  { mood: "4", name: "Grace" },
  { mood: "4" },
  { mood: "2", missing: "Examples in more languages.", name: "Edsger" },
];

function requiredEnv(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`cargo xtask shots\``);
  return value;
}

const url = requiredEnv("SHIFTBOOK_SHOTS_URL");
const form = requiredEnv("SHIFTBOOK_SHOTS_FORM");
const folder = requiredEnv("SHIFTBOOK_SHOTS_FOLDER");
const widths = requiredEnv("SHIFTBOOK_SHOTS_WIDTHS").split(",").map(Number);

async function signIn(page: Page) {
  await page.goto(`${url}/sign-in`);
  await page.locator("input[name=email]").fill(requiredEnv("SHIFTBOOK_SHOTS_EMAIL"));
  await page.locator("input[name=password]").fill(requiredEnv("SHIFTBOOK_SHOTS_PASSWORD"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/today/);
}

/**
 * Runs in the page. A headless browser blocks notifications, whatever it is granted, so that the inbox would have a
 * disabled button. This is the state of a browser that has not asked its person yet.
 */
function askForNotifications() {
  Object.defineProperty(Notification, "permission", { configurable: true, get: () => "default" });
}

/** Opens the page of a form's editor or of its responses. */
async function openForm(page: Page, link: string) {
  await page.goto(`${url}/views`);
  await page.getByRole("link", { name: FORM }).first().click();
  await page.getByRole("link", { name: link, exact: true }).click();
  await expect(page).toHaveURL(new RegExp(`/views/[^/]+/${link === "Edit" ? "edit" : "responses"}`));
}

/** Opens a page of the demo by following links. */
const pages: Record<string, (page: Page) => Promise<unknown>> = {
  today: (page) => page.goto(`${url}/today`),
  inbox: (page) => page.goto(`${url}/inbox`),
  session: async (page) => {
    await page.goto(`${url}/sessions`);
    await page.getByRole("link", { name: /Find a word/ }).first().click();
    await expect(page).toHaveURL(/\/sessions\/[0-9a-f-]{36}/);
  },
  "form-editor": (page) => openForm(page, "Edit"),
  "form-responses": (page) => openForm(page, "Responses"),
};

/** Answers the form as somebody without an account. */
async function answer(browser: Browser, { mood, missing, name }: (typeof ANSWERS)[number]) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(form);
  await page.getByRole("radio", { name: mood }).check();
  if (missing) await page.getByLabel("What is missing?").fill(missing);
  if (name) await page.getByLabel("Your name?").fill(name);
  await page.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Many thanks.")).toBeVisible();
  await context.close();
}

test.beforeAll(async ({ browser }) => {
  for (const one of ANSWERS) await answer(browser, one);
});

for (const width of widths) {
  for (const scheme of SCHEMES) {
    const name = (page: string) => join(folder, `${page}-${scheme}${width === USUAL_WIDTH ? "" : `-${width}`}.png`);
    test.describe(`${scheme}, ${width} px`, () => {
      test.use({
        colorScheme: scheme,
        viewport: { width, height: HEIGHT },
        deviceScaleFactor: SCALE,
        contextOptions: { reducedMotion: "reduce" },
      });
      for (const [what, open] of Object.entries(pages)) {
        test(what, async ({ page }) => {
          await page.addInitScript(askForNotifications);
          await signIn(page);
          await open(page);
          await expect(page.getByRole("main")).toBeVisible();
          // The page is complete when its scripts run and its live stream is open.
          await expect(page.locator("html")).toHaveAttribute("data-ready", "");
          await expect(page.locator(".connection[data-state=live]").first()).toBeAttached();
          await page.screenshot({ path: name(what), animations: "disabled" });
        });
      }
      test("form", async ({ page }) => {
        await page.goto(form);
        await page.getByRole("radio", { name: "3" }).check();
        await expect(page.getByLabel("What is missing?")).toBeVisible();
        await page.screenshot({ path: name("form"), animations: "disabled" });
      });
    });
  }
}
