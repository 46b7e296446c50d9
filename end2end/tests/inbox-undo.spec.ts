/** The countdown of an item that was decided and can still be undone: in its bar, and in the notice. */
import { api, expect, hydrated, signIn, test } from "../support";

interface Approval {
  id: string;
  sessionId: string;
}

const items = async () => (await api().get<{ items: Approval[] }>("/api/approvals?assignedTo=all&limit=500")).items;

// The decision has to outlast the test.
test.use({ undoSeconds: 60 });

/** Stages an output that waits for approval; its item. */
async function staged() {
  const unique = Date.now().toString(36);
  const fields = [{ slug: "note", name: "Note", type: "text" }];
  const type = await api().post<{ id: string }>("/api/entity-types", { name: `Counted ${unique}`, fields });
  const deal = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title: `One ${unique}`, fields: {} });
  const agentSlug = `counted-${unique}`;
  const about = { targetEntityId: deal.id, outputType: "entity", metadata: { requiresApproval: true } };
  const action = await api().createAction({ name: "Qualify", agentSlug, ...about });
  const session = await api().trigger(action.id);
  const claim = await api().claim(agentSlug);
  await api().complete(session.id, claim.attempt, { note: "as agreed" });
  return (await items()).find((item) => item.sessionId === session.id)!;
}

test("the bar of an item counts the seconds to undo down, as the notice does", async ({ page }) => {
  const item = await staged();
  await signIn(page, "reviewer");
  await page.goto(`/inbox/${item.id}`);
  await hydrated(page);
  await page.locator('.gate-bar [data-key="approve"]').click();
  const notice = page.locator(".inbox-held [data-key=undo]");
  await expect(notice).toHaveText(/^Undo \(\d+ s\)$/);

  await page.clock.install();
  await page.goto(`/inbox/${item.id}`);
  const bar = page.locator(".gate-bar [data-left]");
  await expect(bar).toHaveText(/^Undo \(\d+ s\)$/);
  await page.clock.pauseAt(Date.now() + 2_000);
  const left = Number(/\d+/.exec((await bar.textContent()) ?? "")?.[0]);
  expect(left).toBeGreaterThan(10);
  await expect(notice).toHaveText(`Undo (${left} s)`);
  await page.clock.runFor(3_000);
  await expect(bar).toHaveText(`Undo (${left - 3} s)`);
  await expect(notice).toHaveText(`Undo (${left - 3} s)`);
  // The page would read the list again after so long a silence, and the server still offers to undo.
  await page.context().setOffline(true);
  await page.clock.runFor(left * 1_000);
  await expect(notice).toHaveCount(0);
  await expect(bar).toHaveAttribute("hidden", "");
});
