/** Pages that more than an address leads to, with axe: links of strangers, and the first page of a server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slug } from "../questions";
import { startServer, stopServer } from "../server";
import { api, environment, expect, expectAccessible, test } from "../support";

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
