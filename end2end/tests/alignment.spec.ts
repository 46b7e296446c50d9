/** Where texts, boxes and badges stand: on one line with what is beside them, and beside an icon and not over it. */
import type { Locator, Page } from "@playwright/test";
import { api, expect, hydrated, signIn, test } from "../support";

/** Difference that nobody sees, in CSS pixels. */
const ALIKE_PX = 1;
/** Height of a text on one line at most, in CSS pixels. */
const LINE_PX_MAX = 28;

/** The height on which the text in an element stands, in CSS pixels. The element contains text alone. */
const baseline = (element: Locator) =>
  element.evaluate((text) => {
    const probe = document.createElement("span");
    probe.style.cssText = "display: inline-block; inline-size: 0; block-size: 0";
    text.prepend(probe);
    const { bottom } = probe.getBoundingClientRect();
    probe.remove();
    return bottom;
  });

async function onOneLine(first: Locator, ...others: Locator[]) {
  const line = await baseline(first);
  for (const other of others) {
    const distance = Math.abs((await baseline(other)) - line);
    expect(distance, `${await other.textContent()} beside ${await first.textContent()}`).toBeLessThan(ALIKE_PX);
  }
}

/** An ended session of a task, with a tool call. Its agent is named like no other. */
async function ended(of: string) {
  const agent = `line-${of}-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Line ${agent}`, agentSlug: agent });
  const { id } = await api().trigger(action.id, { week: 47 });
  const { attempt } = await api().claim(agent, 600);
  const part = { toolCallId: "a", toolName: "look" };
  await api().append(id, attempt, [
    { type: "agent.tool_call", content: [{ type: "tool-call", ...part, input: { what: "a\nb" } }] },
    { type: "agent.tool_result", content: [{ type: "tool-result", ...part, output: { type: "text", value: "c" } }] },
  ]);
  await api().complete(id, attempt);
  return { id, agent, action };
}

const word = (within: Locator) => within.locator(".badge > span").first();

test("a status stands on the line of its row, in every list and on every page", async ({ page }) => {
  const { id, agent, action } = await ended("status");
  await signIn(page, "operator");
  await page.goto(`/sessions?agent=${agent}`);
  const session = page.locator(`[data-session-id="${id}"]`);
  await onOneLine(session.locator(".table-main a"), word(session), session.getByText("Agent", { exact: true }));
  await page.goto("/actions");
  const task = page.getByRole("row", { name: new RegExp(agent) });
  await onOneLine(task.locator(".table-main a"), word(task), task.getByText(agent, { exact: true }));
  await page.goto(`/actions/${action.id}`);
  const latest = page.locator(".facts > div", { hasText: "Latest session" });
  await onOneLine(latest.locator("dt"), word(latest));

  const slug = `line-${crypto.randomUUID().slice(0, 8)}`;
  const fields = [{ key: "name", label: "Your name?", type: "short_text" }];
  const form = { title: "Line", slug, fields, publishConfig: { responses: "many" } };
  const view = await api().post<{ id: string }>("/api/views", form);
  await api().post(`/api/views/${view.id}/publish`);
  const answers = { submissionId: crypto.randomUUID(), answers: { name: "Ada" } };
  await api().post(`/api/views/${view.id}/submit-interaction`, answers);
  await page.goto(`/views/${slug}`);
  const state = page.locator(".facts > div", { hasText: "State" });
  const version = page.locator(".facts > div", { hasText: "Version" });
  await onOneLine(version.locator("dd"), state.locator("dt"), word(state));
  await page.goto(`/views/${slug}/responses`);
  const response = page.locator("tbody tr").first();
  await onOneLine(response.getByText("Ada", { exact: true }), word(response));
});

test("the button that copies an input stands on the line of its heading", async ({ page }) => {
  const { id } = await ended("copy");
  await signIn(page, "operator");
  await page.goto(`/sessions/${id}`);
  await hydrated(page);
  await page.locator("details.tool > summary").first().click();
  const heading = page.locator(".tool-side > h3").first();
  const copy = heading.locator(".button > span");
  await expect(copy).toBeVisible();
  // The first text of the heading is its own, before the button.
  await onOneLine(heading, copy);
});

/** The middle of an element, from the top of the page, in CSS pixels. */
const middle = async (element: Locator) => {
  const { y, height } = (await element.boundingBox())!;
  return y + height / 2;
};

test("a box stands at the middle of the first line of what it selects", async ({ page }) => {
  const agent = `box-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Box ${agent}`, agentSlug: agent });
  await api().trigger(action.id);
  const { session, attempt } = await api().claim(agent, 600);
  await api().post(`/api/sessions/${session.id}/feedback-requests`, { attempt, message: `Which one, ${agent}?`, idempotencyKey: "a" });
  await signIn(page, "admin");
  await page.goto("/inbox?assignedTo=all");
  await hydrated(page);
  const row = page.locator(".inbox-row", { hasText: agent });
  const title = row.locator(".row-title");
  expect(Math.abs((await middle(row.getByRole("checkbox"))) - (await middle(title)))).toBeLessThan(ALIKE_PX);
  await page.goto(`/sessions?agent=${agent}`);
  await hydrated(page);
  const listed = page.locator(`[data-session-id="${session.id}"]`);
  const name = listed.locator(".table-main > a");
  expect(Math.abs((await middle(listed.getByRole("checkbox"))) - (await middle(name)))).toBeLessThan(ALIKE_PX);
  // Choices of the interface, and those of a form on its own page.
  const slug = `box-${crypto.randomUUID().slice(0, 8)}`;
  const options = ["speed", "price"];
  const fields = [
    { key: "tags", label: "Which topics?", type: "multiple_choice", options },
    { key: "one", label: "Which one?", type: "single_choice", options },
  ];
  const form = { title: "Box", slug, fields, publishConfig: { gate: "member" } };
  const view = await api().post<{ id: string }>("/api/views", form);
  await api().post(`/api/views/${view.id}/publish`);
  for (const path of ["/settings", `/views/${slug}/answer`]) {
    await page.goto(path);
    const choices = await page.locator("label:has(> input:is([type=checkbox], [type=radio])):visible").all();
    expect(choices.length, path).toBeGreaterThan(1);
    for (const choice of choices) {
      const [box, label] = [choice.locator("input"), choice.locator("span").first()];
      if ((await label.boundingBox())!.height > LINE_PX_MAX) continue;
      expect(Math.abs((await middle(box)) - (await middle(label))), `${await label.textContent()}`).toBeLessThan(ALIKE_PX);
    }
  }
});

/** How much of an icon is covered by its badge, as a share. */
const covered = (page: Page) =>
  page.locator('.rail-nav > ul a[href="/inbox"]').evaluate((link) => {
    const icon = link.querySelector(".icon")!.getBoundingClientRect();
    const badge = link.querySelector(".rail-count")!.getBoundingClientRect();
    const common = (from: number, to: number) => Math.max(0, to - from);
    const width = common(Math.max(icon.left, badge.left), Math.min(icon.right, badge.right));
    const height = common(Math.max(icon.top, badge.top), Math.min(icon.bottom, badge.bottom));
    return (width * height) / (icon.width * icon.height);
  });

test("the number of waiting items leaves its icon in sight, also zoomed to 200 % and on a phone", async ({ page }) => {
  const agent = `count-${Date.now().toString(36)}`;
  const action = await api().createAction({ name: `Count ${agent}`, agentSlug: agent });
  await api().trigger(action.id);
  const { session, attempt } = await api().claim(agent, 600);
  await api().post(`/api/sessions/${session.id}/feedback-requests`, { attempt, message: "Which one?", idempotencyKey: "a" });
  await signIn(page, "admin");
  await page.goto("/sessions");
  await hydrated(page);
  const count = page.locator(".rail-count");
  await expect(count).toBeVisible();
  // A window of 1280 pixels zoomed to 200 % has 640 CSS pixels.
  for (const width of [1280, 900, 640, 360]) {
    await page.setViewportSize({ width, height: 800 });
    for (const figure of ["1", "285", "999+"]) {
      await count.evaluate((badge, figure) => (badge.firstChild!.textContent = figure), figure);
      expect(await covered(page), `${figure} at ${width} px`).toBeLessThan(0.15);
    }
  }
  // On a phone every entry of the bar has a word.
  const texts = page.locator(".rail :is(.rail-text, .connection-word):visible");
  for (const text of await texts.all()) {
    const { width, height } = (await text.boundingBox())!;
    expect(Math.min(width, height), `${await text.textContent()}`).toBeGreaterThan(8);
  }
  const pick = page.locator(".working-pick:visible");
  expect(await pick.evaluate((button) => getComputedStyle(button, "::after").content)).toContain("Task");
});
