/** The page of all components: accessible in every state, usable at every width, worked by keyboard. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, expectAccessibleAsWide, expectAccessible, test } from "../support";
import { GALLERY } from "../environment";

const ADDRESS = "http://gallery.test";

/** Opens the page. The files come from the folder of the gallery, and no server is asked. */
async function openComponents(page: Page) {
  await page.route(`${ADDRESS}/**`, (route) => {
    const path = join(GALLERY, new URL(route.request().url()).pathname);
    return existsSync(path) ? route.fulfill({ path }) : route.fulfill({ status: 404 });
  });
  await page.goto(`${ADDRESS}/components.html`);
  // Shows what needs scripts, as the scripts of a page do.
  await page.evaluate(() => document.documentElement.classList.add("js"));
}

for (const width of [1280, 360]) {
  test(`axe finds nothing among the components, and nothing overflows at ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    await openComponents(page);
    await expectAccessibleAsWide(page);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow, "the page scrolls sideways").toBeLessThanOrEqual(0);
  });
}

test("what opens has no axe violation, and popovers of a group close each other", async ({ page }) => {
  await openComponents(page);
  const [deny, snooze] = [page.getByText("Deny…"), page.getByText("Snooze…")];
  await deny.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Reason")).toBeVisible();
  await expectAccessible(page);
  await snooze.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "1 hour" })).toBeVisible();
  await expect(page.getByLabel("Reason")).toBeHidden();
  await expectAccessible(page);
  await page.evaluate(() => document.querySelector<HTMLDialogElement>("#about")?.showModal());
  const dialog = page.getByRole("dialog", { name: "About this entry" });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
});

test("the states of a component are said and not only shown", async ({ page }) => {
  await openComponents(page);
  const refused = page.getByLabel("Approvals needed").nth(1);
  await expect(refused).toHaveAttribute("aria-invalid", "true");
  await expect(refused).toHaveAccessibleDescription(/Enter a whole number from 1 to 20\./);
  await expect(page.getByRole("button", { name: "Working" }).first()).toHaveAttribute("aria-busy", "true");
  await expect(page.getByRole("button", { name: "Working" }).first()).toBeDisabled();
  await expect(page.getByRole("progressbar", { name: "Rows processed" })).toHaveAttribute("value", "37");
  const word = page.getByText("—", { exact: true });
  await word.focus();
  await expect(page.getByRole("tooltip")).toBeVisible();
  await expect(word).toHaveAccessibleDescription("Not a field of the entity");
});
