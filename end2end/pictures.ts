/**
 * Pictures of every page that the specs check with axe, for `cargo xtask shots --all-pages`. The specs reach each page
 * of the server (`every-page.spec.ts`), so there is no other list of pages.
 */
import { basename, join } from "node:path";
import { type Page, test } from "@playwright/test";

const FOLDER = process.env.SHIFTBOOK_PICTURES;
/** Of a large screen, of a desktop and of a phone. */
const WIDTHS = [1680, 1280, 360] as const;
const HEIGHT = 800;
const IDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Number of pictures of each name, because a spec can look at a page several times. */
const taken = new Map<string, number>();

/** Whether pages are photographed in place of being checked. */
export const takesPictures = FOLDER !== undefined;

const inName = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/** Photographs the page as it is, at every width and in both themes. */
export async function takePictures(page: Page, what: string) {
  const path = inName(new URL(page.url()).pathname.replaceAll(IDS, "id")) || "root";
  const name = [path, inName(what), inName(basename(test.info().file, ".spec.ts"))].join("_");
  const count = (taken.get(name) ?? 0) + 1;
  taken.set(name, count);
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      const file = `${name}${count > 1 ? `_${count}` : ""}-${colorScheme}-${width}.png`;
      await page.screenshot({ path: join(FOLDER!, file), animations: "disabled", fullPage: true });
    }
  }
  if (before) await page.setViewportSize(before);
}
