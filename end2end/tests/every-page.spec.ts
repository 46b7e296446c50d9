/** Every page of the server, by its route, with axe. A route that is named nowhere here fails the first test. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { askWithForm, slug, unique } from "../questions";
import { ROOT, api, cookieOf, environment, expect, expectAccessible, signIn, test } from "../support";

/** Routes that answer with no page: what they answer with instead. */
const NO_PAGES: Record<string, string> = {
  "/": "leads to /today",
  "/canvases/new": "leads to /canvases",
  "/canvases/{id}/export": "a file",
  "/chat/rows": "rows of a list",
  "/chat/{id}/live": "a part of a page",
  "/exports/{id}/file": "a file",
  "/exports/{id}/manifest": "a file",
  "/exports/{id}/progress": "a part of a page",
  "/f/{secret}": "leads to /forms/{id}",
  "/find": "rows of the palette",
  "/imports/{id}/progress": "a part of a page",
  "/inbox/list": "rows of a list",
  "/inbox/waiting/{id}": "JSON",
  "/inbox/{id}/detail": "a part of a page",
  "/link/{secret}": "leads to /link",
  "/needs-you": "leads to /inbox",
  "/needs-you/{id}": "leads to /inbox/{id}",
  "/sessions/fresh": "a text of a page",
  "/sessions/paced/{id}/progress": "a part of a page",
  "/sessions/rows": "rows of a list",
  "/sessions/{id}/pictures/{sequence}/{name}": "a picture",
  "/sessions/{id}/rows": "rows of a list",
  "/sessions/{id}/summary": "parts of a page",
  "/shared/{id}/result": "a file",
  "/tool-links/{id}/runs/{run}/result": "a file",
  "/today/connection": "a part of a page",
  "/today/courses": "a part of a page",
  "/today/questions": "a part of a page",
  "/today/section/{bucket}": "a part of a page",
  "/tools/{slug}/draft": "leads to /tools/{slug}",
  "/tools/{slug}/inputs": "leads to /tools/{slug}",
  "/tools/{slug}/run": "leads to /tools/{slug}",
  "/tools/{slug}/test": "leads to /tools/{slug}/edit",
  "/working-on/day": "rows of a list",
};

/** The test of pages.spec.ts that looks at each row of its table with axe. */
const IN_TABLE = "axe finds nothing, nothing overflows";
/** Tests that look at several pages. */
const OF_CRITERIA = "the pages hold up to axe";
const OF_ENTITIES = "axe finds nothing in light and dark";
const SHARED = "a session is shared by a link, read without an account";
const TOOL_LINK = "a tool is run by a link without an account";
const OF_MEMORY = "pages of memory hold hostile text and please axe";

/** Pages that other tests look at with axe: the spec, the test, and the row of the test's table if it has one. */
const ELSEWHERE: Record<string, [string, string, string?]> = {
  "/actions": ["pages.spec.ts", IN_TABLE, '"/actions"]'],
  "/actions/{id}": ["pages.spec.ts", IN_TABLE, "`/actions/${rich.action}`]"],
  "/agents": ["memory.spec.ts", OF_MEMORY, '"/agents",'],
  "/agents/{slug}": ["memory.spec.ts", OF_MEMORY, "`/agents/${agent}`,"],
  "/agents/{slug}/memory": ["memory.spec.ts", OF_MEMORY, "`/agents/${agent}/memory`,"],
  "/agents/{slug}/memory/session": ["memory.spec.ts", "what one session wrote is shown and reverted"],
  "/api/docs": ["pages.spec.ts", IN_TABLE, '"/api/docs"]'],
  "/bundles": ["criteria.spec.ts", OF_CRITERIA, '"/bundles",'],
  "/chat": ["chat.spec.ts", "the list and a conversation in every state have no axe violation"],
  "/chat/{id}": ["chat.spec.ts", "the list and a conversation in every state have no axe violation"],
  "/criteria-sets": ["criteria.spec.ts", OF_CRITERIA, '"/criteria-sets",'],
  "/criteria-sets/new": ["criteria.spec.ts", OF_CRITERIA, '"/criteria-sets/new",'],
  "/criteria-sets/{id}": ["criteria.spec.ts", OF_CRITERIA, "`/criteria-sets/${set.id}`,"],
  "/embed/{secret}": ["answer-form.spec.ts", "a form in a frame that asks who answers opens in a new tab"],
  "/entities": ["entities.spec.ts", OF_ENTITIES, '"/entities"]'],
  "/entities/{id}": ["entities.spec.ts", OF_ENTITIES, "`/entities/${full.id}`]"],
  "/entity-types/{id}": ["entities.spec.ts", OF_ENTITIES, "`/entity-types/${of.id}`]"],
  "/entity-types/{id}/import": ["entities.spec.ts", OF_ENTITIES, "`/entity-types/${of.id}/import`]"],
  "/export": ["pages.spec.ts", IN_TABLE, '"/export"]'],
  "/exports/{id}": ["export.spec.ts", "an operator looks at training data before it is written"],
  "/failures": ["failures.spec.ts", "the pages fit, and axe finds nothing"],
  "/failures/{id}": ["failures.spec.ts", "the pages fit, and axe finds nothing"],
  "/failures/{id}/run-again": ["failures.spec.ts", "the pages fit, and axe finds nothing"],
  "/forms/{id}": ["answer-form.spec.ts", "a stranger answers an agent's three questions"],
  "/imports/{id}": ["entities.spec.ts", OF_ENTITIES],
  "/inbox": ["inbox-trust.spec.ts", "axe finds nothing in light and dark", '["/inbox",'],
  "/inbox/review": ["inbox-review.spec.ts", "a group is reviewed as a table, a cell is edited and the rest is undone"],
  "/inbox/review/result": ["inbox-review.spec.ts", "a group is reviewed as a table, a cell is edited and the rest is undone"],
  "/inbox/selection": ["decisions.spec.ts", "several items are reviewed before they are decided"],
  "/inbox/{id}": ["inbox-trust.spec.ts", "axe finds nothing in light and dark", "`/inbox/${item.id}`, "],
  "/inbox/{id}/hand-over": ["inbox-aside.spec.ts", "an item is handed over with a note"],
  "/insights": ["pages.spec.ts", IN_TABLE, '"/insights"]'],
  "/insights/memories": ["pages.spec.ts", IN_TABLE, '"/insights/memories"]'],
  "/link": ["accessible.spec.ts", "links to join and to set a password"],
  "/mcp-servers": ["mcp-servers.spec.ts", "an MCP server is added, refuses, is changed", '"/mcp-servers"'],
  "/mcp-servers/{slug}": ["mcp-servers.spec.ts", "an MCP server is added, refuses, is changed", "of a server"],
  "/memory/forget": ["memory-review.spec.ts", "a person is forgotten after a look at what would go"],
  "/r/{secret}": ["tool-link.spec.ts", TOOL_LINK, "the page that asks"],
  "/s/{secret}": ["share.spec.ts", SHARED, "the page that asks"],
  "/rules": ["rules.spec.ts", "a rule is suggested, tested, created, changed, suspended and deleted", '"/rules"'],
  "/rules/new": ["rules.spec.ts", "a rule is suggested, tested, created, changed, suspended and deleted"],
  "/rules/{id}": ["rules.spec.ts", "a rule is suggested, tested, created, changed, suspended and deleted"],
  "/rules/{id}/edit": ["rules.spec.ts", "a rule is suggested, tested, created, changed, suspended and deleted"],
  "/search": ["search.spec.ts", "an event is found by its words and opened at its place"],
  "/sessions": ["pages.spec.ts", IN_TABLE, '"/sessions"]'],
  "/sessions/bulk": ["bulk.spec.ts", "sessions are selected by keyboard and cancelled after a preview"],
  "/sessions/paced/{id}": ["monday.spec.ts", "an operator finds the call that broke, and runs its cause again"],
  "/sessions/saved": ["saved-searches.spec.ts", "a search is saved, opened again and deleted"],
  "/sessions/{id}": ["pages.spec.ts", IN_TABLE, "`/sessions/${rich.session}`]"],
  "/sessions/{id}/forget": ["session-forget.spec.ts", "a session is forgotten after a look at what would go"],
  "/sessions/{id}/labels": ["bulk.spec.ts", "selected sessions are tagged, and one gets another tag on its own page"],
  "/sessions/{id}/promote": ["tools.spec.ts", "a result is saved and written to an entity", "an entity\""],
  "/sessions/{id}/share": ["share.spec.ts", SHARED, "what would be shared"],
  "/settings": ["pages.spec.ts", IN_TABLE, '"/settings"]'],
  "/settings/share-links": ["share.spec.ts", SHARED, "the list of links"],
  "/setup": ["accessible.spec.ts", "the first page of a new server has no axe violation"],
  "/shared/{id}": ["share.spec.ts", SHARED, "the shared session"],
  "/sign-in": ["pages.spec.ts", "the sign-in page has no axe violation"],
  "/today": ["pages.spec.ts", IN_TABLE, '"/today"]'],
  "/tools": ["tools.spec.ts", "a tool is made, published, given a secret and compared", '"/actions"'],
  "/tools/new": ["tools.spec.ts", "a tool is made, published, given a secret and compared", '"/tools/new"'],
  "/tools/{slug}": ["tools.spec.ts", "a tool is made, published, given a secret and compared"],
  "/tool-links/{id}": ["tool-link.spec.ts", TOOL_LINK, "the form of the tool"],
  "/tool-links/{id}/runs/{run}": ["tool-link.spec.ts", TOOL_LINK, "the run"],
  "/tools/{slug}/links": ["tool-link.spec.ts", TOOL_LINK, "the links of a tool"],
  "/tools/{slug}/edit": ["tools.spec.ts", "a tool is made, published, given a secret and compared", "/edit$/"],
  "/views/new": ["responses.spec.ts", "the preview follows what is typed", '"/views/new"'],
  "/views/{slug}": ["views.spec.ts", "a form is made with the buttons of the editor and published"],
  "/views/{slug}/edit": ["views.spec.ts", "a form is made with the buttons of the editor and published", "/edit$/"],
  "/views/{slug}/responses": ["responses.spec.ts", "responses are a table and charts", "/responses`"],
  "/working-on": ["working-on.spec.ts", "axe finds nothing in the picker", '"/working-on")'],
};

const FIELDS = [
  { key: "mood", label: "How was it?", type: "scale", minimum: 1, maximum: 5, required: true },
  { key: "why", label: "Why?", type: "long_text" },
];

/** What the addresses below name. */
async function make() {
  const agent = slug("pages");
  const document = { baseVersion: 0, text: "- The back door is open\n" };
  await api().send("PUT", `/api/agents/${agent}/memory/document?path=topics/doors.md`, document);
  const { id: question } = await askWithForm({ message: "Which offer do we take?", fields: FIELDS, blocking: false });
  const form = slug("visit");
  const view = await api().post<{ id: string }>("/api/views", { title: unique("Visit"), slug: form, fields: FIELDS });
  await api().post(`/api/views/${view.id}/publish`);
  const fields = [{ slug: "note", name: "Note", type: "text" }];
  const type = await api().post<{ id: string; slug: string }>("/api/entity-types", { name: unique("Firm"), fields });
  const entity = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title: "North", fields: {} });
  const { members } = await api("admin").get<{ members: { id: string; email: string }[] }>("/api/members");
  const member = members.find(({ email }) => email === environment().tenants.acme.people.member.email)!.id;
  // Only those who take part in a canvas see it.
  const plan = await fetch(`${environment().url}/api/canvases`, {
    method: "POST",
    headers: { cookie: await cookieOf("admin"), origin: environment().url, "content-type": "application/json" },
    body: JSON.stringify({ title: "Plan", document: { n: 1 } }),
  });
  const canvas = (await plan.json()) as { id: string };
  const session = await api().post<{ id: string }>("/api/sessions", { sessionType: "agent", agentSlug: agent });
  const [of, id] = [type.slug, entity.id];
  return { agent, question, form, type: of, entity: id, member, canvas: canvas.id, session: session.id };
}

let made: Awaited<ReturnType<typeof make>>;
test.beforeAll(async () => {
  made = await make();
});

/** Route → the address of a page. */
const OPENED: Record<string, () => string> = {
  "/agents/{slug}/memory/runs": () => `/agents/${made.agent}/memory/runs`,
  "/canvases": () => "/canvases",
  "/canvases/{id}": () => `/canvases/${made.canvas}`,
  "/inbox/patches": () => "/inbox/patches",
  "/canvases/{id}/participants": () => `/canvases/${made.canvas}/participants`,
  "/canvases/{id}/versions": () => `/canvases/${made.canvas}/versions`,
  "/memory": () => "/memory",
  "/questions/{id}": () => `/questions/${made.question}`,
  "/sessions/paced": () => "/sessions/paced",
  "/sessions/{id}/memories": () => `/sessions/${made.session}/memories`,
  "/settings/audit": () => "/settings/audit",
  "/settings/members/{id}": () => `/settings/members/${made.member}`,
  "/t/{tenant}/{type}/{id}": () => `/t/acme/${made.type}/${made.entity}`,
  "/views": () => "/views",
  "/views/{slug}/answer": () => `/views/${made.form}/answer`,
};

/** The routes below `server/src/web` that answer GET, as the source declares them. */
function declared(): string[] {
  const folder = join(ROOT, "server/src/web");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".rs"));
  const routes = files.flatMap((name) => readFileSync(join(folder, name), "utf8").split(".route(").slice(1));
  return routes.flatMap((text) => {
    const [, path, rest] = text.match(/^\s*"([^"]+)",([^]*)/)!;
    return /\bget\(/.test(upToItsEnd(rest!)) ? [path!] : [];
  });
}

/** The text before the parenthesis that closes the one before it. */
function upToItsEnd(text: string): string {
  let depth = 1;
  for (const [at, letter] of [...text].entries()) {
    if (letter === "(") depth++;
    if (letter === ")" && --depth === 0) return [...text].slice(0, at).join("");
  }
  throw new Error(`no end of ${text}`);
}

test("every page of the server is looked at with axe", () => {
  const named = [NO_PAGES, ELSEWHERE, OPENED].flatMap((table) => Object.keys(table));
  expect(named.toSorted()).toEqual(declared().toSorted());
  for (const [route, [spec, title, row]] of Object.entries(ELSEWHERE)) {
    const text = readFileSync(join(ROOT, "end2end/tests", spec), "utf8");
    const at = text.indexOf(title);
    expect(at, `${spec} has no test "${title}" for ${route}`).toBeGreaterThan(0);
    if (row) expect(text, `${spec} has no row for ${route}`).toContain(row);
    expect(text.slice(at).split(/\n\s*test\(/)[0], `${title} of ${spec}`).toMatch(/expectAccessible/);
  }
});

for (const [route, address] of Object.entries(OPENED)) {
  test(`the page ${route} has no axe violation`, async ({ page }) => {
    await signIn(page, "admin");
    const response = await page.goto(address());
    expect(response?.status()).toBe(200);
    // A page that leads elsewhere would not be looked at.
    expect(new URL(page.url()).pathname).toMatch(new RegExp(`^${route.replaceAll(/\{[a-z]+\}/g, "[^/]+")}$`));
    await expect(page.locator("h1").first()).toBeAttached();
    await expectAccessible(page, route);
  });
}
