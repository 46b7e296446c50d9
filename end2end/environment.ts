import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The test environments that setup.ts creates: a server for each worker, with three tenants, their people and
 * tokens.
 */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
export const BINARY = process.env.SHIFTBOOK_BIN ?? join(ROOT, "target/release/shiftbook");
/** Folder of test results, server logs and environment files. */
export const OUTPUT = join(ROOT, "target/e2e");
/** The host to which forms may send respondents. Tests answer for it in the browser. */
export const REDIRECT_HOST = "www.example.org";
/** The folder that the example `gallery` of the crate `app` has written. */
export const GALLERY = process.env.SHIFTBOOK_GALLERY ?? join(ROOT, "target/e2e/gallery");

/** `hostile` holds content that would disturb all other specs. */
export const TENANTS = ["acme", "other", "hostile"] as const;
export const ROLES = ["admin", "operator", "reviewer", "member"] as const;

export type TenantName = (typeof TENANTS)[number];
export type Role = (typeof ROLES)[number];
export type TokenName = "admin" | "operator" | "worker";

export interface Person {
  email: string;
  password: string;
}

export interface Tenant {
  people: Record<Role, Person>;
  tokens: Record<TokenName, string>;
}

export interface Environment {
  url: string;
  dataDir: string;
  tenants: Record<TenantName, Tenant>;
}

export function environmentFile(worker: number | string): string {
  return join(OUTPUT, `environment-${worker}.json`);
}

let read: Environment | undefined;

/** The environment of the current worker, so that specs that run at the same time never see each other's data. */
export function environment(): Environment {
  read ??= JSON.parse(readFileSync(environmentFile(process.env.TEST_PARALLEL_INDEX ?? 0), "utf8")) as Environment;
  return read;
}
