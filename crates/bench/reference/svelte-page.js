// What goal G13 compares with: the page of a session in Svelte 5, rendered in Node again and again from what the API says of
// it, as `app/examples/render_page` does ours.
//
// `node svelte-page.js ME.json SESSION.json EVENTS.json ROUNDS SECONDS` prints pages per second of this process's CPU time, a
// line per round. Without ROUNDS and SECONDS it prints the page.
//
// The rows have the markup and the texts of ours, escaped by Svelte, and a page ends as UTF-8 bytes, as ours does. What
// favours the reference: texts are one plain paragraph, where ours looks for markdown and renders it (those of the
// benchmark hold none); the JSON is parsed once, where ours keeps contents as they were sent and reads them for each page;
// and it leaves out the palette, the list of keys, the picker of what one works on and the sprite of icons, which ours
// carries on every page. What does not: the hydration marks that Svelte writes are part of its page.

import { readFileSync } from "node:fs";
import { register } from "node:module";
import { render } from "svelte/server";

register("./svelte-loader.js", import.meta.url);
const { default: Page } = await import("./page/Page.svelte");

/** CPU time after which V8 has compiled what is hot. */
const WARM_SECONDS = 1.5;
/** Longest page, bytes. */
const PAGE_BYTES_MAX = 1 << 20;
/** Pages between two looks at the clock. */
const AT_ONCE = 32;

const [meFile, sessionFile, eventsFile, rounds, seconds] = process.argv.slice(2);
if (!eventsFile) {
  console.error("node svelte-page.js ME.json SESSION.json EVENTS.json [ROUNDS SECONDS]");
  process.exit(2);
}
const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const props = { me: read(meFile), session: read(sessionFile), events: read(eventsFile).events };

function page() {
  const { head, body } = render(Page, { props });
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${head}</head><body>${body}</body></html>`;
}

const encoder = new TextEncoder();
const buffer = new Uint8Array(PAGE_BYTES_MAX);

/** Renders a page into the buffer: its length in bytes. */
function written() {
  return encoder.encodeInto(page(), buffer).written;
}

/** Of this process, with the threads that collect garbage and compile. */
function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Pages per second of CPU time. */
function round(atLeast) {
  const begun = cpuSeconds();
  let [pages, used, bytes] = [0, 0, 0];
  while (used < atLeast) {
    for (let index = 0; index < AT_ONCE; index += 1) bytes += written();
    pages += AT_ONCE;
    used = cpuSeconds() - begun;
  }
  if (bytes !== pages * size) throw new Error("the pages differ");
  return pages / used;
}

const size = written();
if (rounds === undefined) {
  process.stdout.write(page());
} else {
  round(WARM_SECONDS);
  for (let index = 0; index < Number(rounds); index += 1) console.log(round(Number(seconds)));
}
