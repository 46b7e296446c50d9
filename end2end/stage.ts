import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** What setup.ts puts on stage for the specs: a server, three tenants, their people and tokens. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
export const BINARY = process.env.SHIFTBOOK_BIN ?? join(ROOT, "target/release/shiftbook");
export const STAGE_FILE = join(ROOT, "target/e2e/stage.json");

/** `hostile` is for content that would be in the way of every other spec. */
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

export interface Stage {
  url: string;
  dataDir: string;
  tenants: Record<TenantName, Tenant>;
}

let read: Stage | undefined;

export function stage(): Stage {
  read ??= JSON.parse(readFileSync(STAGE_FILE, "utf8")) as Stage;
  return read;
}
