/** Questions of agents that wait in the inbox. */
import type { Page } from "@playwright/test";
import { api } from "./support";

interface Item {
  id: string;
  sessionId: string;
}

let count = 0;
/** A name that no other test has. */
export const unique = (name: string) => `${name} ${Date.now().toString(36)} ${count++}`;
/** A slug that no other test has. */
export const slug = (name: string) => unique(name).toLowerCase().replace(/[^a-z0-9]+/g, "-");
/** A word of letters alone that no other test has: numbers separate no causes of failures. */
export const letters = () =>
  Array.from({ length: 12 }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join("");

/** The open item of a session. */
export async function itemOf(sessionId: string) {
  const { items } = await api().get<{ items: Item[] }>("/api/approvals?assignedTo=all&limit=1000");
  const item = items.find((approval) => approval.sessionId === sessionId);
  if (!item) throw new Error(`session ${sessionId} waits at no gate`);
  return item;
}

/** Creates a session that asks a question. Returns the agent's slug and the session. */
export async function askQuestion(question: object, name = "Plan a trip") {
  const agentSlug = slug("planner");
  const action = await api().createAction({ name, slug: slug(name), agentSlug });
  const session = await api().trigger(action.id);
  const { attempt } = await api().claim(agentSlug);
  await api().post(`/api/sessions/${session.id}/yield`, { attempt, status: "waiting_human", question });
  return { agentSlug, session, item: await itemOf(session.id) };
}

interface Asked {
  message: string;
  fields: object[];
  blocking?: boolean;
  expiresAt?: string;
  gate?: "none" | "lead" | "member";
}

/**
 * Creates a running session whose agent asks with a form. Returns the agent's slug, the session, the request's id and
 * the path of the link for people without an account.
 */
export async function askWithForm(asked: Asked) {
  const agentSlug = slug("asker");
  const action = await api().createAction({ name: "Compare offers", slug: slug("compare"), agentSlug });
  const session = await api().trigger(action.id);
  const { attempt } = await api().claim(agentSlug);
  const path = `/api/sessions/${session.id}/feedback-requests`;
  const body = { attempt, idempotencyKey: "k", ...asked };
  const { request, url } = await api().post<{ request: { id: string }; url?: string | null }>(path, body);
  return { agentSlug, session, id: request.id, url };
}

/** Shows the open questions of Today, which are one line if there are many. */
export async function unfoldQuestions(page: Page) {
  const folded = page.locator(".asked:not([open]) > summary");
  if ((await folded.count()) > 0) await folded.click();
}
