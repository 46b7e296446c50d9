/**
 * A complete approval: an agent stages a change of a record; a reviewer edits it to a forbidden value, is refused,
 * corrects it, approves, undoes that and approves again. The record's history and the transcript agree.
 */
import { type Locator, type Page } from "@playwright/test";
import { api, expect, hydrated, runWorker, signIn, environment, test } from "../support";

/** This story runs with the animations of the pages, which are off elsewhere. */
test.use({ contextOptions: { reducedMotion: "no-preference" } });

interface Approval {
  id: string;
  sessionId: string;
}

interface Decision {
  decision?: string;
  undoes?: number;
  value?: Record<string, unknown>;
}

interface Logged {
  sequence: number;
  type: string;
  actor: string;
  metadata: Decision & { approvedBy?: string; written?: object[]; to?: string };
}

interface Version {
  version: number;
  actor: string;
  sessionId: string | null;
  fields: Record<string, unknown>;
}

// The first decision is undone, however long the page takes.
test.use({ undoSeconds: 60 });

const TYPED = "Signed on Friday, says Lee — typed by a person.";

/** The agent: it reads, says what it found, and stages a change with its own assessment. */
const AGENT = `
read -r input
echo '{"type":"agent.thinking","content":[{"type":"text","text":"The newest note says that they signed."}]}'
echo '{"type":"agent.tool_call","content":[{"type":"tool-call","toolCallId":"c1","toolName":"read_notes","input":{"company":"Acme"}}]}'
echo '{"type":"agent.tool_result","content":[{"type":"tool-result","toolCallId":"c1","toolName":"read_notes","output":{"notes":["signed"]}}]}'
echo '{"type":"result","result":{"stage":"Won","note":"They signed.","phi_safety":"pass","claim_safety":"pass"}}'
`;

/** Creates a record, criteria with a hard block, and a task whose output needs approval. */
async function reviewed(of: string) {
  const agentSlug = `story-${of}-${Date.now().toString(36)}`;
  const title = `Acme ${agentSlug}`;
  const options = (block: string) => [
    { value: "pass", label: "Fine", style: "positive", score: 1 },
    { value: block, label: "Not at all", style: "negative", score: 0, hardBlock: true },
  ];
  const criteria = await api().post<{ id: string }>("/api/criteria-sets", {
    name: `Outreach safety ${agentSlug}`,
    dimensions: [
      { slug: "phi_safety", name: "No health data", type: "select", options: options("names_a_patient") },
      { slug: "claim_safety", name: "Claims can be shown", type: "select", options: options("made_up") },
    ],
  });
  const type = await api().post<{ id: string }>("/api/entity-types", {
    name: `Company ${agentSlug}`,
    fields: [
      { slug: "stage", name: "Stage", type: "select", options: ["Lead", "Won", "Lost"] },
      { slug: "note", name: "Note", type: "text" },
    ],
  });
  const record = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title, fields: { stage: "Lead" } });
  const action = await api().createAction({
    name: `Update ${title}`,
    agentSlug,
    targetEntityId: record.id,
    outputType: "entity",
    outputConfig: { criteria_set_ids: [criteria.id] },
    metadata: { requiresApproval: true },
  });
  return { agentSlug, title, record, action };
}

const versions = async (id: string) => (await api().get<{ items: Version[] }>(`/api/entities/${id}/versions`)).items;

const log = async (id: string) => (await api().get<{ events: Logged[] }>(`/api/sessions/${id}/events?limit=1000`)).events;

const field = (page: Page, name: string) => page.locator(`#gate-form [name="value.${name}"]`);
const row = (page: Page, id: string) => page.locator(`#inbox-rows [data-id="${id}"]`);

/** How a decision is made: with a key if scripts run, otherwise with the button. */
function decisionControls(page: Page, scripts: boolean) {
  const press = async (key: string, button: Locator) => (scripts ? page.keyboard.press(key) : button.click());
  return {
    decide: () => press("ControlOrMeta+Enter", page.locator(".gate-bar").getByRole("button", { name: /^Approve/ })),
    undo: () => press("z", page.locator(".inbox-held").getByRole("button", { name: /^Undo/ })),
  };
}

test("an agent's change is edited, refused, mended, approved, taken back, approved again, and told alike @nojs", async ({ page }, info) => {
  const scripts = info.project.name === "js";
  const { decide, undo } = decisionControls(page, scripts);
  const { agentSlug, title, record, action } = await reviewed(info.project.name);
  const session = await api().trigger(action.id);
  const worker = runWorker(agentSlug, ["sh", "-c", AGENT]);
  await api().untilStatus(session.id, "waiting_human").finally(() => worker.stop());
  const { items } = await api().get<{ items: Approval[] }>("/api/approvals?assignedTo=all&kind=output&limit=500");
  const item = items.find((approval) => approval.sessionId === session.id)!;

  // The item is in the inbox and says what would change.
  await signIn(page, "reviewer");
  await page.goto("/inbox");
  await hydrated(page);
  const title_ = row(page, item.id).locator(".row-title");
  await expect(title_).toHaveText(title);
  await title_.click();
  await expect(page.locator("#gate")).toHaveAttribute("data-id", item.id);
  await expect(page.locator("#gate-title")).toContainText(title);
  await expect(page.locator("#gate .transcript")).toContainText("read_notes");

  // An edit to a forbidden value is refused with dimension and option; everything typed is kept.
  await field(page, "note").fill(TYPED);
  await field(page, "phi_safety").selectOption("names_a_patient");
  if (scripts) await field(page, "note").focus();
  await decide();
  await expect(page.locator("#gate-form .field-error")).toContainText("`phi_safety` is `names_a_patient`, which is a hard block");
  await expect(field(page, "phi_safety")).toHaveAttribute("aria-invalid", "true");
  await expect(field(page, "phi_safety")).toHaveValue("names_a_patient");
  await expect(field(page, "note")).toHaveValue(TYPED);
  await expect(field(page, "stage")).toHaveValue("Won");
  expect(await versions(record.id)).toHaveLength(1);

  // Corrected, approved, and undone while it is held. The typed text is restored.
  await field(page, "phi_safety").selectOption("pass");
  if (scripts) await field(page, "note").focus();
  await decide();
  await expect(page.locator(".inbox-held")).toContainText(`Approved with changes: ${title}`);
  await undo();
  await expect(row(page, item.id)).toBeVisible();
  expect((await api().session(session.id)).status).toBe("waiting_human");
  expect(await versions(record.id)).toHaveLength(1);
  if (!scripts) await row(page, item.id).locator(".row-title").click();
  await expect(page.locator("#gate")).toHaveAttribute("data-id", item.id);
  await expect(field(page, "note")).toHaveValue(TYPED);
  await expect(field(page, "phi_safety")).toHaveValue("pass");

  // Approved again; this decision takes effect.
  await api("admin").send("PATCH", "/api/workspace", { undoSeconds: 1 });
  if (scripts) await field(page, "note").focus();
  await decide();
  await api().untilStatus(session.id, "completed");

  await sameStory(page, session.id, record.id);
});

/** The log, the record's page and the session's page agree: three decisions, one of them undone, and one write. */
async function sameStory(page: Page, sessionId: string, recordId: string) {
  const written = { stage: "Won", note: TYPED };
  const events = await log(sessionId);
  const of = (type: string) => events.filter((event) => event.type === type);
  const [first, withdrawal, second, ...more] = of("user.output_approval");
  expect(more).toEqual([]);
  expect(first?.metadata).toMatchObject({ decision: "edit", value: { note: TYPED } });
  expect(withdrawal?.metadata).toMatchObject({ undoes: 1 });
  expect(second?.metadata).toMatchObject({ decision: "edit", value: { note: TYPED } });
  const by = first!.actor;
  expect([withdrawal!.actor, second!.actor]).toEqual([by, by]);
  const completed = of("session.completed");
  expect(completed).toHaveLength(1);
  expect(completed[0]!.metadata).toMatchObject({ approvedBy: by, written: [{ entityId: recordId, version: 2, effect: "updated" }] });
  expect(completed[0]!.sequence).toBeGreaterThan(second!.sequence);

  const [now, before, ...older] = await versions(recordId);
  expect(older).toEqual([]);
  expect(now).toMatchObject({ version: 2, actor: by, sessionId, fields: written });
  expect(before).toMatchObject({ version: 1, fields: { stage: "Lead" } });

  // The same on the pages.
  const reviewer = environment().tenants.acme.people.reviewer.email;
  await page.goto(`/entities/${recordId}`);
  const history = page.locator(".history-item");
  await expect(history).toHaveCount(2);
  await expect(history.first()).toContainText("v2");
  await expect(history.first()).toContainText(reviewer);
  await expect(history.first().locator("ins")).toHaveText(["Won", TYPED]);
  await expect(history.first().locator("del")).toHaveText(["Lead"]);
  await history.first().getByRole("link", { name: "by a session" }).click();
  await expect(page).toHaveURL(new RegExp(`/sessions/${sessionId}`));
  const decisions = page.locator('.transcript [data-kind="user.output_approval"]');
  await expect(decisions).toHaveCount(3);
  await expect(decisions.nth(0)).toContainText(`${reviewer} approved with changes`);
  await expect(decisions.nth(1)).toContainText(`${reviewer} undid the decision`);
  await expect(decisions.nth(2)).toContainText(`${reviewer} approved with changes`);
  await expect(page.locator('.transcript [data-kind="session.completed"]')).toHaveCount(1);
  await expect(page.locator("#summary")).toContainText(/completed/i);
}
