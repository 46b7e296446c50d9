/** Every page of the server, by its route, with axe. A route that is named nowhere here fails the first test. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { askQuestion, askWithForm, slug, unique } from "../questions";
import { ROOT, api, environment, expect, expectAccessible, signIn, test } from "../support";

/** Routes that answer with no page: what they answer with instead. */
const NO_PAGES: Record<string, string> = {
  "/": "leads to /today",
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
  "/sessions/rows": "rows of a list",
  "/sessions/{id}/rows": "rows of a list",
  "/sessions/{id}/summary": "parts of a page",
  "/today/courses": "a part of a page",
  "/today/questions": "a part of a page",
  "/today/section/{bucket}": "a part of a page",
  "/working-on/day": "rows of a list",
};

/** The test of pages.spec.ts that looks at each row of its table with axe. */
const IN_TABLE = "axe finds nothing, nothing overflows";

/** Pages that other tests look at with axe: the spec, the test, and the row of the test's table if it has one. */
const ELSEWHERE: Record<string, [string, string, string?]> = {
  "/actions": ["pages.spec.ts", IN_TABLE, '"/actions"]'],
  "/actions/{id}": ["pages.spec.ts", IN_TABLE, "`/actions/${rich.action}`]"],
  "/api/docs": ["pages.spec.ts", IN_TABLE, '"/api/docs"]'],
  "/chat": ["chat.spec.ts", "the list and a conversation in every state have no axe violation"],
  "/chat/{id}": ["chat.spec.ts", "the list and a conversation in every state have no axe violation"],
  "/embed/{secret}": ["answer-form.spec.ts", "a form in a frame that asks who answers opens in a new tab"],
  "/export": ["pages.spec.ts", IN_TABLE, '"/export"]'],
  "/exports/{id}": ["export.spec.ts", "an operator looks at training data before it is written"],
  "/forms/{id}": ["answer-form.spec.ts", "a stranger answers an agent's three questions"],
  "/imports/{id}": ["entities.spec.ts", "axe finds nothing in light and dark"],
  "/insights": ["pages.spec.ts", IN_TABLE, '"/insights"]'],
  "/link": ["accessible.spec.ts", "links to join and to set a password"],
  "/sessions": ["pages.spec.ts", IN_TABLE, '"/sessions"]'],
  "/sessions/{id}": ["pages.spec.ts", IN_TABLE, "`/sessions/${rich.session}`]"],
  "/settings": ["pages.spec.ts", IN_TABLE, '"/settings"]'],
  "/setup": ["accessible.spec.ts", "the first page of a new server has no axe violation"],
  "/sign-in": ["pages.spec.ts", "the sign-in page has no axe violation"],
  "/today": ["pages.spec.ts", IN_TABLE, '"/today"]'],
};

const FIELDS = [
  { key: "mood", label: "How was it?", type: "scale", minimum: 1, maximum: 5, required: true },
  { key: "why", label: "Why?", type: "long_text" },
];

/** What the addresses below name. */
async function make() {
  const agent = slug("pages");
  const { id: chat } = await api().post<{ id: string }>("/api/threads", { agent, message: "The back door is open." });
  await api().send("PUT", `/api/agents/${agent}/memory/document?path=topics/doors.md`, {
    baseVersion: 0,
    text: "- The back door is open\n",
    evidence: [{ line: 1, session: chat, sequence: 2 }],
  });
  const { item } = await askQuestion({ message: "Which day?" });
  const { id: question } = await askWithForm({ message: "Which offer do we take?", fields: FIELDS, blocking: false });
  const form = slug("visit");
  const view = await api().post<{ id: string }>("/api/views", { title: unique("Visit"), slug: form, fields: FIELDS });
  await api().post(`/api/views/${view.id}/publish`);
  const set = await api().post<{ id: string }>("/api/criteria-sets", {
    name: unique("Safety"),
    slug: slug("safety"),
    dimensions: [{ slug: "tone", name: "Tone", type: "scale", min: 1, max: 5 }],
  });
  const fields = [{ slug: "note", name: "Note", type: "text" }];
  const type = await api().post<{ id: string; slug: string }>("/api/entity-types", { name: unique("Firm"), fields });
  const entity = await api().post<{ id: string }>("/api/entities", { typeId: type.id, title: "North", fields: {} });
  const { members } = await api("admin").get<{ members: { id: string; email: string }[] }>("/api/members");
  const member = members.find(({ email }) => email === environment().tenants.acme.people.member.email)!.id;
  return { agent, chat, item: item.id, question, form, set: set.id, type, entity: entity.id, member };
}

let made: Awaited<ReturnType<typeof make>>;
test.beforeAll(async () => {
  made = await make();
});

/** Route → the address of a page. */
const OPENED: Record<string, () => string> = {
  "/agents": () => "/agents",
  "/agents/{slug}": () => `/agents/${made.agent}`,
  "/agents/{slug}/memory": () => `/agents/${made.agent}/memory`,
  "/agents/{slug}/memory/runs": () => `/agents/${made.agent}/memory/runs`,
  "/agents/{slug}/memory/session": () => `/agents/${made.agent}/memory/session?id=${made.chat}`,
  "/bundles": () => "/bundles",
  "/criteria-sets": () => "/criteria-sets",
  "/criteria-sets/new": () => "/criteria-sets/new",
  "/criteria-sets/{id}": () => `/criteria-sets/${made.set}`,
  "/entities": () => "/entities",
  "/entities/{id}": () => `/entities/${made.entity}`,
  "/entity-types/{id}": () => `/entity-types/${made.type.id}`,
  "/entity-types/{id}/import": () => `/entity-types/${made.type.id}/import`,
  "/inbox": () => "/inbox",
  "/inbox/{id}": () => `/inbox/${made.item}`,
  "/memory": () => "/memory",
  "/memory/forget": () => "/memory/forget",
  "/questions/{id}": () => `/questions/${made.question}`,
  "/settings/members/{id}": () => `/settings/members/${made.member}`,
  "/t/{tenant}/{type}/{id}": () => `/t/acme/${made.type.slug}/${made.entity}`,
  "/views": () => "/views",
  "/views/new": () => "/views/new",
  "/views/{slug}": () => `/views/${made.form}`,
  "/views/{slug}/answer": () => `/views/${made.form}/answer`,
  "/views/{slug}/edit": () => `/views/${made.form}/edit`,
  "/views/{slug}/responses": () => `/views/${made.form}/responses`,
  "/working-on": () => "/working-on",
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
    expect(text.slice(at).split(/\n\s*test\(/)[0], `${title} of ${spec}`).toMatch(/expect(Accessible|NoAxe)/);
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
