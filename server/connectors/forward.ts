// Passes an event of a host on to Shiftbook: `shiftbook hook HOST EVENT`, with the event as JSON on standard input.
// `shiftbook connect` writes this file, and `shiftbook connect HOST --undo` removes it.

import { spawn } from "node:child_process";

/** The program that passes events on. `shiftbook connect` puts its own path here. */
const PROGRAM = "shiftbook";
/** Longest time that a host waits for context, milliseconds. The program ends earlier by itself. */
const CONTEXT_MS = 300;
/** Longest time that a host waits for any other event to be passed on, milliseconds. */
const OTHER_MS = 1_200;
/** Longest answer that is read, characters. The largest context has 10,000. */
const ANSWER_CHARS_MAX = 65_536;

export type Host = "opencode" | "pi" | "openclaw";

/** The command of Shiftbook's MCP server, which offers the tool `rate_memories`. */
export const MCP = [PROGRAM, "mcp"];

/** The tool for ratings as a plugin offers it. Shiftbook's MCP server offers the same. */
export const RATE_MEMORIES = {
  name: "rate_memories",
  description:
    "Rates how useful the memories were that you were given, for your last response. `memory_feedback` maps ids of " +
    "memories to scores: -1 (actively harmful or misleading), 0 (present but not used), 1 (directly shaped the " +
    "response), or a number between. Leave out memories that you cannot evaluate.",
  parameters: {
    type: "object",
    properties: { memory_feedback: { type: "object" } },
    required: ["memory_feedback"],
    additionalProperties: false,
  },
  answer: "Thank you.",
};

/**
 * Passes one event on. Returns the context for the agent: undefined if there is none, if it is late, and after any
 * error. Nothing is thrown, so that the host's turn goes on in any case.
 */
export function forward(host: Host, event: string, payload: Record<string, unknown>): Promise<string | undefined> {
  return new Promise((resolve) => {
    const takesContext = event === "SessionStart" || event === "UserPromptSubmit";
    const done = (context?: string) => {
      clearTimeout(timer);
      resolve(context);
    };
    // The program is left to end by itself: it stores an event that it cannot send.
    const timer = setTimeout(done, takesContext ? CONTEXT_MS : OTHER_MS);
    try {
      const child = spawn(PROGRAM, ["hook", host, event], { stdio: ["pipe", "pipe", "ignore"] });
      let answer = "";
      child.on("error", () => done());
      child.stdin.on("error", () => done());
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (part: string) => {
        if (answer.length < ANSWER_CHARS_MAX) answer += part;
      });
      child.on("close", () => done(contextOf(answer)));
      child.stdin.end(JSON.stringify({ ...payload, hook_event_name: event }));
    } catch {
      done();
    }
  });
}

function contextOf(answer: string): string | undefined {
  try {
    const context: unknown = JSON.parse(answer).hookSpecificOutput?.additionalContext;
    return typeof context === "string" ? context : undefined;
  } catch {
    return undefined;
  }
}
