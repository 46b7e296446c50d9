/** What deciding costs a reviewer: from the key to the next item on the screen, and a hundred alike from the first key to the server's answer. */
import { api, expect, signIn, test } from "../support";

const SINGLE = 40;
const BATCH = 100;

async function stage(count: number, key: string, values: (n: number) => object) {
  const type = await api().post<{ slug: string }>("/api/entity-types", {
    name: `Measured ${key}`,
    fields: [{ slug: "stage", name: "Stage", type: "text" }],
  });
  const agentSlug = `measured-${key}`;
  const action = await api().createAction({
    name: `Measured ${key}`,
    agentSlug,
    outputType: "entity",
    outputConfig: { entityType: type.slug },
    metadata: { requiresApproval: true },
  });
  for (let n = 0; n < count; n++) {
    const session = await api().trigger(action.id);
    const claim = await api().claim(agentSlug);
    await api().complete(session.id, claim.attempt, values(n));
  }
}

test("deciding", async ({ page }) => {
  test.setTimeout(600_000);
  const run = Date.now().toString(36);
  await stage(SINGLE, `single-${run}`, (n) => ({ title: `One ${n}`, stage: `Stage ${n}` }));
  await signIn(page, "reviewer");
  await page.goto("/inbox");
  await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  const fold = page.locator('[data-fold][aria-expanded="false"]');
  while (await fold.count()) await fold.first().click();
  await page.locator("#inbox-rows [data-id] .row-title").first().focus();
  const figures: number[] = [];
  for (let n = 0; n < SINGLE - 1; n++) {
    figures.push(
      await page.evaluate(
        () =>
          new Promise<number>((done) => {
            const before = document.getElementById("gate")?.dataset.id;
            const begun = performance.now();
            document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "a", code: "KeyA", bubbles: true, cancelable: true }));
            const look = () =>
              document.getElementById("gate")?.dataset.id === before ? requestAnimationFrame(look) : requestAnimationFrame(() => done(performance.now() - begun));
            look();
          }),
      ),
    );
    // A person reads the next item; meanwhile the one after it is read ahead.
    await page.waitForLoadState("networkidle");
  }
  figures.sort((a, b) => a - b);
  await stage(BATCH, `batch-${run}`, (n) => ({ title: `Many ${n}`, stage: "Won" }));
  await page.goto("/inbox");
  await expect(page.locator("html")).toHaveAttribute("data-ready", "");
  await page.locator("[data-group]", { hasText: `${BATCH} alike` }).locator(".row-title").focus();
  const begun = Date.now();
  await page.keyboard.press("x");
  await page.keyboard.press("a");
  await expect(page.locator(".inbox-held")).toContainText(`${BATCH} items`);
  console.log(
    `from the key to the next item painted, ${figures.length} times: median ${figures[figures.length >> 1]!.toFixed(1)} ms, largest ${figures.at(-1)!.toFixed(1)} ms\n` +
      `${BATCH} alike, from the first key to the answer: ${Date.now() - begun} ms`,
  );
});
