/** Deals whose changes wait in the inbox, and what tests read of them. */
import { type Page } from "@playwright/test";
import { api, hydrated } from "./support";

export interface Approval {
  id: string;
  state: string;
  sessionId: string;
  decision: { decision: string; email: string } | null;
}

export type Deal = { id: string; version: number; title: string; fields: Record<string, unknown> };

let count = 0;
export const unique = (name: string) => `${name} ${Date.now().toString(36)} ${count++}`;

/** Creates a record type with a select, a number and a date. */
export async function dealType() {
  return api().post<{ id: string; slug: string }>("/api/entity-types", {
    name: unique("Deal"),
    fields: [
      { slug: "stage", name: "Stage", type: "select", options: ["Lead", "Won", "Lost"] },
      { slug: "amount", name: "Amount", type: "number" },
      { slug: "note", name: "Note", type: "text" },
    ],
  });
}

/** Creates a record, a task about it whose output needs approval, and stages that output. */
export async function staged(typeId: string, title: string, values: object, more: object = {}) {
  const deal = await api().post<Deal>("/api/entities", { typeId, title, fields: { stage: "Lead", amount: 1 } });
  const agentSlug = unique("scout").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const action = await api().createAction({
    name: "Qualify",
    agentSlug,
    targetEntityId: deal.id,
    outputType: "entity",
    metadata: { requiresApproval: true },
    ...more,
  });
  const session = await api().trigger(action.id);
  const claim = await api().claim(agentSlug);
  await api().complete(session.id, claim.attempt, values);
  const item = await itemOf(session.id);
  return { deal, session, item, agentSlug };
}

export async function itemOf(sessionId: string) {
  const { items } = await api().get<{ items: Approval[] }>("/api/approvals?assignedTo=all&limit=500");
  const item = items.find((approval) => approval.sessionId === sessionId);
  if (!item) throw new Error(`session ${sessionId} has staged nothing`);
  return item;
}

/** Stages outputs of one task that would each create a record. Returns their sessions. */
export async function alike(count: number, stageOf: (n: number) => string) {
  const type = await dealType();
  const agentSlug = unique("batch").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const action = await api().createAction({
    name: unique("Batch"),
    agentSlug,
    outputType: "entity",
    outputConfig: { entityType: type.slug },
    metadata: { requiresApproval: true },
  });
  const sessions: string[] = [];
  for (let n = 0; n < count; n++) {
    const session = await api().trigger(action.id);
    const claim = await api().claim(agentSlug);
    await api().complete(session.id, claim.attempt, { title: `Deal ${n}`, stage: stageOf(n) });
    sessions.push(session.id);
  }
  return sessions;
}

export const dealNow = (id: string) => api().get<Deal>(`/api/entities/${id}`);
export const row = (page: Page, id: string) => page.locator(`#inbox-rows [data-id="${id}"]`);

export async function openInbox(page: Page, path: string) {
  await page.goto(path);
  await hydrated(page);
}

/** Waits until the decision has taken effect and cannot be undone any more. */
export const settled = (sessionId: string, status = "completed") => api().untilStatus(sessionId, status);

/** Ends what a test left to be undone: its notice would cover a part of the pages of the next tests. */
export async function cancelAll() {
  const { items } = await api().get<{ items: Approval[] }>("/api/approvals?assignedTo=all&state=held&limit=500");
  for (const { sessionId } of items) await api().post(`/api/sessions/${sessionId}/cancel`);
}
