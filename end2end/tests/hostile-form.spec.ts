/** No script runs from texts of forms and of agents' questions, or from what people answer. */
import { type Page } from "@playwright/test";
import { joined, line, look, picked, visitExisting, watch } from "../hostile";
import { api, expect, signIn, test } from "../support";

const tenant = "hostile";
/** A failed test is repeated in a new process, so its data has unique names. */
const run = Date.now().toString(36);
const lines = [...new Set(picked.map(line))];

interface Option {
  value: string;
  label: string;
}

interface Field {
  key: string;
  type: string;
  label: string;
  help: string;
  prefill?: boolean;
  options?: Option[];
  showIf?: object;
  minimum?: number;
  maximum?: number;
  lowLabel?: string;
  highLabel?: string;
}

const option = (at: number): Option => ({ value: lines[at]!, label: lines.at(-at - 1)! });

function kind(at: number): Pick<Field, "type" | "prefill" | "options"> {
  const options = [option(2 * at), option(2 * at + 1)];
  switch (at % 4) {
    case 0:
      return { type: "short_text", prefill: true };
    case 1:
      return { type: "long_text" };
    case 2:
      return { type: "single_choice", options };
    default:
      return { type: "multiple_choice", options };
  }
}

/** Fields of every type that shows a text of its own, with payloads as all of their texts. */
function everyText(): Field[] {
  const fields = picked.slice(0, 44).map((help, at): Field => ({ key: `k${at}`, label: line(help), help, ...kind(at) }));
  const texts = (at: number) => ({ label: lines.at(-at)!, help: picked.at(-at)! });
  return [
    ...fields,
    { key: "why", type: "short_text", showIf: { field: "k2", equals: lines[4] }, ...texts(1) },
    { key: "many", type: "single_choice", options: lines.slice(0, 20).map((_, at) => option(at)), ...texts(2) },
    { key: "scale", type: "scale", minimum: 1, maximum: 5, lowLabel: lines.at(-3)!, highLabel: lines.at(-4)!, ...texts(3) },
    { key: "mail", type: "email", ...texts(4) },
  ];
}

const chunks = joined(picked, 10);

/** Answers to all fields but the address. Those of two turns differ. */
function answers(fields: Field[], turn: number) {
  const one = ({ type, options = [] }: Field, at: number) => {
    if (type === "short_text") return lines[(at + turn) % lines.length];
    if (type === "long_text") return chunks[(at + turn) % chunks.length];
    if (type === "multiple_choice") return options.map(({ value }) => value);
    return type === "scale" ? turn + 1 : options[turn]!.value;
  };
  return Object.fromEntries(fields.slice(0, -1).map((field, at) => [field.key, one(field, at)]));
}

interface Made {
  /** Address of the form for people without an account. */
  url: string;
  /** Pages of members, and pages of forms, which have no scripts of the shell to wait for. */
  pages: string[];
  forms: string[];
}

let made: Promise<Made> | undefined;

async function fill(): Promise<Made> {
  const operator = api("operator", tenant);
  const fields = everyText();
  const words = picked.join("\n\n");
  const slug = `form-${run}`;
  const publishConfig = { gate: "none", responses: "many", thanks: words, embedOrigins: ["https://a.example"] };
  const view = await operator.post<{ id: string }>("/api/views", { title: lines[21], slug, introduction: words, fields, publishConfig });
  await operator.post(`/api/views/${view.id}/publish`);
  const { url, embedUrl } = await operator.post<{ url: string; embedUrl: string }>(`/api/views/${view.id}/links`);
  const submit = (turn: number) =>
    operator.post<{ response: { id: string } }>(`/api/views/${view.id}/submit-interaction`, { submissionId: crypto.randomUUID(), answers: answers(fields, turn) });
  const { response } = await submit(0);
  await submit(1);

  const agentSlug = `form-asking-${run}`;
  const action = await operator.createAction({ name: lines[22]!, slug: agentSlug, agentSlug });
  const session = await operator.trigger(action.id);
  const { attempt } = await operator.claim(agentSlug, 3600);
  const asked = { attempt, idempotencyKey: "k", blocking: false, message: words.slice(0, 2_000), fields };
  const { request } = await operator.post<{ request: { id: string } }>(`/api/sessions/${session.id}/feedback-requests`, asked);

  const prefilled = joined(lines, 10, " ").map((text) => `${url}?k0=${encodeURIComponent(text.slice(0, 500))}`);
  return {
    url,
    pages: [`/views/${slug}`, `/views/${slug}/edit`, `/views/${slug}/responses`, `/sessions/${response.id}`, `/inbox/${request.id}`],
    forms: [`/views/${slug}/answer`, `/questions/${request.id}`, embedUrl, ...prefilled.slice(0, 3)],
  };
}

/** A refused form shows again what was typed, and the page of thanks what was answered. */
async function typed(page: Page, seen: string[], url: string) {
  await page.goto(url);
  const put = (form: Element, words: string) => {
    const controls = form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("input[type=text], input[type=email], textarea");
    for (const control of controls) if (!control.name.startsWith("_")) control.value = words;
  };
  await page.locator("form").evaluate(put, picked.join("\n").slice(0, 600));
  const submit = page.getByRole("button", { name: "Submit", exact: true });
  await submit.click();
  await expect(page).toHaveTitle(/^Error: /);
  await look(page, seen, "a refused form");
  await page.locator('input[name="mail"]').fill("");
  await submit.click();
  await expect(page.locator("main[data-done]")).toContainText("ran()");
  await look(page, seen, "a form that was answered");
}

for (const bypassCSP of [false, true]) {
  test.describe(bypassCSP ? "without the content security policy" : "as it is served", () => {
    test.use({ bypassCSP });

    test("no script from texts of forms or from answers runs", async ({ page, context }) => {
      test.slow();
      made ??= fill();
      const { url, pages, forms } = await made;
      const seen = await watch(context);
      await signIn(page, "admin", tenant);
      for (const path of [...pages, ...forms]) {
        await visitExisting(page, seen, path, pages.includes(path));
        await expect(page.locator("main"), path).toContainText("ran()");
      }
      await typed(page, seen, url);
    });
  });
}
