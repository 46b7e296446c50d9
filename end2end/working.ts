/** Helpers of the specs about working sessions. */
import { expect, type BrowserContext, type Page } from "@playwright/test";
import { api, environment, hydrated, type NewEvent, type Session } from "./support";
import type { Role } from "./environment";

export interface Task {
  id: string;
  name: string;
}

export interface Logged extends NewEvent {
  id: string;
  sequence: number;
  metadata: { pathname?: string; entityId?: string; entityType?: string; at?: string };
}

/** Sends a POST request as the page's scripts would: with its cookies and origin. */
export async function postAs<T>(context: BrowserContext, path: string, body: unknown, origin = environment().url): Promise<T> {
  const response = await context.request.post(`${origin}${path}`, { data: body as object, headers: { origin } });
  if (!response.ok()) throw new Error(`POST ${path} answered ${response.status()}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** The active working session of the signed-in person. */
export async function activeOf(context: BrowserContext, origin = environment().url): Promise<Session | null> {
  const response = await context.request.get(`${origin}/api/sessions/human/active`);
  return ((await response.json()) as { session: Session | null }).session;
}

/** Signs in without opening a page, so that nothing is recorded, and ends this person's working session. */
export async function signInIdle(page: Page, role: Role) {
  const { email, password } = environment().tenants.acme.people[role];
  const context = page.context();
  const entered = await context.request.post(`${environment().url}/sign-in`, { form: { email, password }, headers: { origin: environment().url } });
  expect(entered.url()).not.toContain("/sign-in");
  const session = await activeOf(context);
  if (session) await postAs(context, "/api/sessions/human/stop", { sessionId: session.id });
}

/** Creates an active task of the signed-in person. */
export async function taskFor(page: Page, name: string): Promise<Task> {
  const me = (await (await page.context().request.get(`${environment().url}/api/me`)).json()) as { user: { id: string } };
  const { id } = await api().post<{ id: string }>("/api/actions", { name, assignedTo: me.user.id });
  return { id, name };
}

/** Starts a working session without the picker. */
export async function begin(page: Page, task: Task, origin = environment().url): Promise<string> {
  const started = await postAs<{ session: Session }>(page.context(), "/api/sessions/human/start", { taskId: task.id }, origin);
  return started.session.id;
}

/** Opens a page and waits until it is recorded. */
export async function visit(page: Page, path: string, origin = "") {
  await page.goto(`${origin}${path}`);
  await expect(page.locator(`html[data-recorded="${path}"]`)).toBeAttached();
}

/** Opens a page and waits until its scripts have started. */
export async function awake(page: Page, path?: string) {
  if (path) await page.goto(path);
  await hydrated(page);
}

/** All events of one session, oldest first. */
export async function logOf(sessionId: string, types = ""): Promise<Logged[]> {
  const all: Logged[] = [];
  for (;;) {
    const after = all.at(-1)?.sequence ?? 0;
    const filter = types ? `&eventTypes=${types}` : "";
    const page = await api("admin").get<{ events: Logged[]; hasMore: boolean }>(
      `/api/sessions/${sessionId}/events?afterSequence=${after}&limit=1000${filter}`,
    );
    all.push(...page.events);
    if (!page.hasMore) return all;
  }
}

/** The recorded paths, in the order of the log. */
export async function pathsOf(sessionId: string): Promise<string[]> {
  return (await logOf(sessionId, "human.navigate")).map((event) => event.metadata.pathname ?? "");
}

/** The picker, by its accessible name. */
export const idle = (page: Page) => page.getByRole("button", { name: "What are you working on?" });
export const working = (page: Page, title = "") => page.getByRole("button", { name: `Working on: ${title}` });
export const stopButton = (page: Page) => page.getByRole("banner").getByRole("button", { name: "Stop working" });
export const finder = (page: Page) => page.getByRole("combobox", { name: "Find a task" });
export const marker = (page: Page) => page.getByRole("dialog", { name: "Add a marker" });

export const options = (page: Page) => page.locator("#working-list").getByRole("option");
/** The message of the picker. */
export const said = (page: Page) => page.locator('[data-part="said"]');

/** Opens the popover and types the name of a task. */
export async function find(page: Page, title: string) {
  await idle(page).or(working(page)).click();
  await finder(page).fill(title);
  const found = options(page).filter({ hasText: title }).first();
  await expect(found).toBeVisible();
  return found;
}

/** Opens the popover and selects the task with this name. */
export async function pick(page: Page, title: string) {
  await (await find(page, title)).click();
}

/** Holds back the lists of tasks until the returned function is called. */
export async function holdBackTasks(page: Page) {
  let release = () => {};
  const released = new Promise<void>((done) => (release = done));
  await page.route("**/fn/working-on/tasks*", async (route) => {
    const answer = await route.fetch();
    await released;
    // Several lists may be held back. Once a test has seen what it waits for it ends, whether or not the others are sent.
    await route.fulfill({ response: answer }).catch(() => {});
  });
  return () => release();
}
