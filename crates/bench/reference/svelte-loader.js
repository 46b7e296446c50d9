// Lets Node import `.svelte` files: compiled for the server, as for production.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compile } from "svelte/compiler";

export async function load(url, context, next) {
  if (!url.endsWith(".svelte")) return next(url, context);
  const filename = fileURLToPath(url);
  const { js, warnings } = compile(await readFile(filename, "utf8"), { filename, generate: "server", dev: false });
  for (const { message } of warnings) console.error(`${filename}: ${message}`);
  return { format: "module", source: js.code, shortCircuit: true };
}
