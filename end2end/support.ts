/** Helpers of the specs: sign-in, API, accessibility, workers. Specs import `test` and `expect` from here. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test as base, expect, type Page } from "@playwright/test";
import { takePictures, takesPictures } from "./pictures";
import { BINARY, REDIRECT_HOST, ROOT, environment, type Role, type TenantName, type TokenName } from "./environment";

export { expect };
export { BINARY, REDIRECT_HOST, ROOT, environment };

const STOP_MS_MAX = 15_000;
const WAIT_MS_MAX = 30_000;
const WAIT_EVERY_MS = 100;

/** Options of `expect.poll` for what takes effect within a second or two. Its own pauses grow to a second. */
export const OFTEN = { intervals: [WAIT_EVERY_MS] };

export interface Session {
  id: string;
  status: string;
  attempt: number;
  [field: string]: unknown;
}

export interface Claim {
  session: Session;
  attempt: number;
  leaseExpiresAt: string;
  input: unknown;
  messages?: { text: string }[];
}

export interface NewEvent {
  id?: string;
  type: string;
  role?: string;
  content?: unknown[];
  metadata?: Record<string, unknown>;
  threadId?: string;
  externalEventId?: string;
  at?: string;
}

/** The spec file whose tests run. */
let runningFile = "";
/** When the last test ended, or when this worker began. */
let lastEnded = Date.now();

interface Fixtures {
  /** For how long a decision of `acme` can be undone, in seconds. Left as it is unless `test.use` sets it. */
  undoSeconds: number | undefined;
  undoTime: void;
  emptiedInbox: void;
}

export const test = base.extend<Fixtures>({
  /** A fixture, because the server's address is known only after the setup. */
  baseURL: async ({}, use) => {
    await use(environment().url);
  },
  undoSeconds: [undefined, { option: true }],
  /** A decision takes effect when the time for undoing it is over, and tests that wait for that are mostly waiting. */
  undoTime: [
    async ({ undoSeconds }, use) => {
      if (undoSeconds === undefined) return use();
      const workspace = api("admin");
      const before = await workspace.get<{ undoSeconds: number }>("/api/workspace");
      await workspace.send("PATCH", "/api/workspace", { undoSeconds });
      await use();
      await workspace.send("PATCH", "/api/workspace", { undoSeconds: before.undoSeconds });
    },
    { auto: true },
  ],
  /**
   * Cancels what other spec files left in the inbox before the first test of a file. The spec files of a worker share a
   * server. Items that the `beforeAll` of this file has made stay.
   */
  emptiedInbox: [
    async ({}, use, { file }) => {
      if (file !== runningFile) await emptyInbox(lastEnded);
      runningFile = file;
      await use();
      lastEnded = Date.now();
    },
    { auto: true },
  ],
});

/**
 * Gives the browser the cookie of a new sign-in, with the request that the form sends. No page is loaded: most tests
 * sign in, and the two pages of the form took longer than many of them.
 */
export async function signIn(page: Page, role: Role, tenant: TenantName = "acme") {
  const { url, tenants } = environment();
  const { email, password } = tenants[tenant].people[role];
  const options = { form: { email, password }, headers: { origin: url }, maxRedirects: 0 };
  const response = await page.context().request.post(`${url}/sign-in`, options);
  expect(response.status(), await response.text()).toBe(303);
}

/** The cookie of a new sign-in, for requests without a browser. */
export async function cookieOf(role: Role, tenant: TenantName = "acme"): Promise<string> {
  const { url, tenants } = environment();
  const { email, password } = tenants[tenant].people[role];
  const response = await fetch(`${url}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ email, password }),
    headers: { origin: url },
    redirect: "manual",
  });
  expect(response.status).toBe(303);
  return response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ");
}

/** Signs in through the form, which leads to /today. */
export async function signInByForm(page: Page, role: Role, tenant: TenantName = "acme") {
  const { email, password } = environment().tenants[tenant].people[role];
  await page.goto("/sign-in");
  await page.locator('input[name="email"]').fill(email);
  await page.locator('input[name="password"]').fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).not.toHaveURL(/\/sign-in/);
}

/** An error response of the API, with its problem document. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly problem: { code?: string; detail?: string },
    what: string,
  ) {
    super(`${what} answered ${status}: ${JSON.stringify(problem)}`);
  }
}

export type Api = ReturnType<typeof api>;

/** The HTTP API with a token of the test environment, or with any other token. */
export function api(token: TokenName | (string & {}) = "operator", tenant: TenantName = "acme") {
  const tokens: Record<string, string> = environment().tenants[tenant].tokens;
  const secret = tokens[token] ?? token;

  async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${environment().url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Refused(response.status, parsed(text), `${method} ${path}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  const get = <T>(path: string) => send<T>("GET", path);
  const post = <T>(path: string, body: unknown = {}) => send<T>("POST", path, body);
  return {
    send,
    get,
    post,
    createAction: (action: { name: string; agentSlug?: string; [field: string]: unknown }) =>
      post<{ id: string; slug: string }>("/api/actions", action),
    trigger: (actionId: string, input?: unknown) =>
      post<Session>(`/api/actions/${actionId}/trigger`, input === undefined ? {} : { input }),
    session: (id: string) => get<Session>(`/api/sessions/${id}`),
    claim: async (agentSlug: string, leaseSeconds = 60) => {
      const claimed = await post<{ sessions: Claim[] }>("/api/sessions/claim", {
        agentSlugs: [agentSlug],
        leaseSeconds,
        waitSeconds: 10,
      });
      const [claim] = claimed.sessions;
      if (!claim) throw new Error(`there was nothing to claim for ${agentSlug}`);
      return claim;
    },
    append: (id: string, attempt: number, events: NewEvent[]) =>
      post<{ events: { id: string; sequence: number }[]; headSequence: number }>(`/api/sessions/${id}/events`, {
        attempt,
        events,
      }),
    complete: (id: string, attempt: number, result?: unknown) =>
      post<Session>(`/api/sessions/${id}/complete`, { attempt, ...(result === undefined ? {} : { result }) }),
    fail: (id: string, attempt: number, message: string) =>
      post<Session>(`/api/sessions/${id}/fail`, { attempt, error: { message } }),
    yield: (id: string, attempt: number, status: "idle" | "waiting_human" | "awaiting_tool", detail?: string) =>
      post<Session>(`/api/sessions/${id}/yield`, { attempt, status, ...(detail === undefined ? {} : { detail }) }),
    /** Waits for a status. Fails with the last status if it is not reached. */
    untilStatus: async (id: string, wanted: string) => {
      let session = await get<Session>(`/api/sessions/${id}`);
      const end = Date.now() + WAIT_MS_MAX;
      while (session.status !== wanted) {
        if (Date.now() > end) throw new Error(`session ${id} is ${session.status}, not ${wanted}`);
        await new Promise((wake) => setTimeout(wake, WAIT_EVERY_MS));
        session = await get<Session>(`/api/sessions/${id}`);
      }
      return session;
    },
  };
}

function parsed(text: string): { code?: string; detail?: string } {
  try {
    return JSON.parse(text) as { code?: string };
  } catch {
    return { detail: text };
  }
}

let adminCookie: Promise<string> | undefined;

/** The rows of the inbox's page, as an admin sees them. */
async function inboxRows(): Promise<string> {
  adminCookie ??= cookieOf("admin");
  const headers = { cookie: await adminCookie };
  const response = await fetch(`${environment().url}/inbox/list?assignedTo=all`, { headers, redirect: "manual" });
  if (!response.ok) throw new Error(`the rows of the inbox were answered with ${response.status}`);
  return response.text();
}

/**
 * Cancels the sessions with an item in the inbox of `acme`: one that is open, one whose decision can still be undone,
 * or a question while the agent goes on. `before` spares sessions that were created at that time (in milliseconds since
 * 1970) or later.
 */
export async function emptyInbox(before?: number) {
  const sessions = new Set<string>();
  for (const state of ["open", "held"]) {
    const path = `/api/approvals?state=${state}&assignedTo=all&limit=1000`;
    const { items } = await api().get<{ items: { sessionId: string }[] }>(path);
    for (const { sessionId } of items) sessions.add(sessionId);
  }
  // The API lists such questions by session only.
  for (const [, id] of (await inboxRows()).matchAll(/data-session="([^"]+)"/g)) sessions.add(id!);
  for (const id of sessions) {
    try {
      const isSpared = before !== undefined && Date.parse(String((await api().session(id)).createdAt)) >= before;
      if (!isSpared) await api().post(`/api/sessions/${id}/cancel`);
    } catch (error) {
      // It has ended meanwhile, or only its person sees it.
      if (!(error instanceof Refused && ["already_final", "not_found"].includes(error.problem.code ?? ""))) throw error;
    }
  }
}

/**
 * Ends all finite animations. Waiting for them can take forever: a headless browser draws no frame while nothing else
 * changes, and a transition of an element that a resize has hidden then stays a few milliseconds before its end.
 */
async function endAnimations(page: Page) {
  await page.evaluate(() => {
    const isFinite = (animation: Animation) => animation.effect?.getComputedTiming().endTime !== Infinity;
    for (const animation of document.getAnimations().filter(isFinite)) animation.finish();
  });
}

/** Rules that depend on colours. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** Widths at which pages are checked: of a desktop and of a phone. */
const WIDTHS = [1280, 360] as const;

/** Checks the page as it is in both themes and at both widths. Nothing is loaded anew, so a dialog stays open. */
export async function expectAccessible(page: Page, what = "the page") {
  // axe runs as a script in the page. What it finds is the same without the scripts of the page.
  if (test.info().project.name === "no-js") return;
  if (takesPictures) return takePictures(page, what);
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    // What has been scrolled below a bar that stays is no target.
    await page.evaluate(() => window.scrollTo(0, 0));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow, `${what} scrolls sideways at ${width} px`).toBeLessThanOrEqual(0);
    await expectAccessibleAsWide(page);
  }
  if (before) await page.setViewportSize(before);
}

/** Times that a script of the page rewrites again and again. */
const REWRITTEN_TIMES = ["ago", "age", "since", "due"].map((kind) => `time[data-time="${kind}"]`).join(", ");

/** Parts whose changes screen readers say, and parts inside them whose changes they do not say. */
const LIVE_REGIONS = '[role="alert"], [role="status"], [role="log"], [aria-live]';

/** Checks the page in both themes at the width that it has. */
export async function expectAccessibleAsWide(page: Page) {
  if (test.info().project.name === "no-js") return;
  if (takesPictures) return takePictures(page, "the page");
  const repeated = await page.locator(REWRITTEN_TIMES).evaluateAll((times, regions) => {
    const regionOf = (time: Element) => time.closest(regions);
    const isSaid = (time: Element) => (regionOf(time)?.getAttribute("aria-live") ?? "polite") !== "off";
    return times.filter((time) => regionOf(time) && isSaid(time)).map((time) => regionOf(time)?.outerHTML);
  }, LIVE_REGIONS);
  expect(repeated, "live regions with a time that is rewritten").toEqual([]);
  for (const colorScheme of ["dark", "light"] as const) await expectNoAxeViolations(page, colorScheme);
}

/** The part of axe that is used here. */
interface Axe {
  run: (context: Document, options: object) => Promise<{ violations: Violation[] }>;
}

interface Violation {
  id: string;
  help: string;
  nodes: { target: string[] }[];
}

const AXE_SCRIPT = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Checks WCAG 2.2 AA and best practices in one theme, which the page then keeps. No violation is allowed. */
async function expectNoAxeViolations(page: Page, colorScheme: "light" | "dark") {
  await page.emulateMedia({ colorScheme });
  await endAnimations(page);
  // The script is large, and a page is checked several times: in two themes, at two widths.
  const isLoaded = await page.evaluate('typeof window.axe?.run === "function"');
  if (!isLoaded) await page.evaluate(AXE_SCRIPT);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  // The dark theme only changes colours, so the other rules are checked in the light theme only.
  const runOnly = colorScheme === "dark" ? { type: "rule", values: OF_COLOURS } : { type: "tag", values: tags };
  const found = await page.evaluate(
    async (options) => {
      const { axe } = window as unknown as { axe: Axe };
      const { violations } = await axe.run(document, options);
      return violations.map(({ id, help, nodes }) => ({ id, help, at: nodes.map((node) => node.target.join(" ")) }));
    },
    // Only violations are read: other results would double the time.
    { resultTypes: ["violations"], runOnly },
  );
  expect(found).toEqual([]);
}

/**
 * Waits until the scripts of the page handle its events. A form that is sent earlier is answered by a new page. Without
 * scripts there is nothing to wait for.
 */
export async function hydrated(page: Page) {
  if (test.info().project.name === "no-js") return;
  await expect(page.locator("html")).toHaveAttribute("data-ready", "");
}

/** Waits until the page has loaded nothing for a while. The live stream never ends, so `networkidle` cannot be used. */
export async function pageLoaded(page: Page) {
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        let heard = performance.now();
        const observer = new PerformanceObserver(() => (heard = performance.now()));
        observer.observe({ type: "resource" });
        const look = () => {
          if (performance.now() - heard < 300) return void setTimeout(look, 50);
          observer.disconnect();
          done();
        };
        look();
      }),
  );
}

export interface Worker {
  /** What it has written to stdout and stderr so far. */
  output: () => string;
  /** Sends SIGTERM and waits until the worker has finished its session. */
  stop: () => Promise<void>;
}

/** Runs `shiftbook work --agent AGENT -- COMMAND…`. */
export function runWorker(agent: string, command: string[], tenant: TenantName = "acme"): Worker {
  return runProcess(BINARY, ["work", "--agent", agent, "--", ...command], tenant);
}

/** Runs a program with SHIFTBOOK_URL and SHIFTBOOK_TOKEN set, in the root of the repository. */
export function runProcess(
  program: string,
  words: string[],
  tenant: TenantName = "acme",
  variables: Record<string, string> = {},
): Worker {
  const child = spawn(program, words, {
    cwd: ROOT,
    env: {
      ...process.env,
      SHIFTBOOK_URL: environment().url,
      SHIFTBOOK_TOKEN: environment().tenants[tenant].tokens.worker,
      ...variables,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const keep = (text: Buffer) => {
    output += text.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = once(child, "exit").catch((error: unknown) => {
    output += `cannot run ${program}: ${String(error)}`;
  });
  return {
    output: () => output,
    stop: async () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
      await ended;
      clearTimeout(killTimer);
    },
  };
}

/** The Python with the packages of the examples; `cargo xtask` creates it. */
export const PYTHON = process.env.SHIFTBOOK_PYTHON ?? "python3";
