/** What the benchmarks in a browser measured, for `cargo xtask bench`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export interface Figure {
  what: string;
  unit: string;
  ours: number;
  /** What must be. */
  atMost?: number;
  facts?: string;
}

/** Prints figures and adds them to the file that `SHIFTBOOK_BENCH_FIGURES` names. */
export function report(figures: Figure[]) {
  for (const { what, unit, ours, atMost, facts } of figures) {
    console.log(`${what}: ${ours.toFixed(2)} ${unit}${atMost ? ` (at most ${atMost})` : ""}${facts ? `; ${facts}` : ""}`);
  }
  const file = process.env.SHIFTBOOK_BENCH_FIGURES;
  if (!file) return;
  mkdirSync(dirname(file), { recursive: true });
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Figure[]) : [];
  writeFileSync(file, JSON.stringify([...before, ...figures], null, 2));
}
