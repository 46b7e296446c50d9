/** Starts and stops `shiftbook serve`. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { WriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { BINARY } from "./environment";

const START_MS_MAX = 60_000;
const STOP_MS_MAX = 15_000;

export interface Server {
  url: string;
  process: ChildProcess;
}

/** Starts a server and waits until it prints its address. */
export async function startServer(dataDir: string, listen = "127.0.0.1:0", log?: WriteStream, words: string[] = []): Promise<Server> {
  const server = spawn(BINARY, ["serve", "--listen", listen, "--data-dir", dataDir, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  server.stderr.on("data", (text: Buffer) => log?.write(text));
  const lines = createInterface({ input: server.stdout });
  const late = AbortSignal.timeout(START_MS_MAX);
  const first = await Promise.race([
    once(lines, "line", { signal: late }).then(([line]) => String(line)),
    once(server, "exit", { signal: late }).then(([code]) => {
      throw new Error(`the server ended with ${code} before it listened`);
    }),
  ]);
  const address = first.split(/\s+/).findLast((word) => word.includes(":"));
  if (!address) throw new Error(`the server's first line names no address: ${first}`);
  lines.on("line", (line) => log?.write(`${line}\n`));
  const url = (address.startsWith("http") ? address : `http://${address}`).replace(/\/$/, "");
  return { url, process: server };
}

/** Stops this server process, with SIGTERM or as a crash. */
export async function stopServer({ process }: Server, signal: "SIGTERM" | "SIGKILL" = "SIGTERM") {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const ended = once(process, "exit");
  process.kill(signal);
  const killTimer = setTimeout(() => process.kill("SIGKILL"), STOP_MS_MAX);
  await ended;
  clearTimeout(killTimer);
}
