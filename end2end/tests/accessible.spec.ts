/** Pages that no other spec looks at with axe: links of strangers, the first page of a server, and pages of members. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askWithForm, slug, unique } from "../questions";
import { startServer, stopServer } from "../server";
import { api, environment, expect, expectAccessible, signIn, test } from "../support";

const FIELDS = [
  { key: "mood", label: "How was it?", type: "scale", minimum: 1, maximum: 5, required: true },
  { key: "why", label: "Why?", type: "long_text" },
];

async function memberId(email: string) {
  const { members } = await api("admin").get<{ members: { id: string; email: string }[] }>("/api/members");
  return members.find((member) => member.email === email)!.id;
}

test("links to join and to set a password, and one that does not work, have no axe violation", async ({ page }) => {
  const admin = api("admin");
  await page.goto("/link");
  await expect(page.getByRole("heading", { name: "This link does not work" })).toBeVisible();
  await expectAccessible(page, "a link that does not work");

  const invitation = await admin.post<{ url: string }>("/api/invitations", { email: `${slug("guest")}@acme.localhost`, role: "member" });
  await page.goto(invitation.url);
  await expect(page.getByRole("button", { name: "Join" })).toBeVisible();
  await expectAccessible(page, "an invitation");

  const id = await memberId(environment().tenants.acme.people.member.email);
  const reset = await admin.post<{ url: string }>(`/api/members/${id}/reset-link`);
  await page.goto(reset.url);
  await expect(page.locator('input[name="password"]')).toBeVisible();
  await expectAccessible(page, "a link to set a password");
});

test("the first page of a new server has no axe violation", async ({ page }) => {
  const dataDir = mkdtempSync(join(tmpdir(), "shiftbook-e2e-setup-"));
  const server = await startServer(dataDir);
  try {
    await page.goto(`${server.url}/setup`);
    await expect(page.locator('input[name="password"]')).toBeVisible();
    await expectAccessible(page, "the set-up");
  } finally {
    await stopServer(server);
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test("a member, the list of forms, a form and a question of an agent have no axe violation", async ({ page }) => {
  test.slow();
  const form = slug("visit");
  const view = await api().post<{ id: string }>("/api/views", { title: unique("Visit"), slug: form, fields: FIELDS });
  await api().post(`/api/views/${view.id}/publish`);
  const { id: question } = await askWithForm({ message: "Which offer do we take?", fields: FIELDS, blocking: false });
  const member = await memberId(environment().tenants.acme.people.member.email);
  await signIn(page, "admin");
  for (const path of [`/settings/members/${member}`, "/views", `/views/${form}/answer`, `/questions/${question}`]) {
    await page.goto(path);
    expect(new URL(page.url()).pathname, "no page leads elsewhere").toBe(path);
    await expect(page.locator("h1").first()).toBeVisible();
    await expectAccessible(page, path);
  }
});
