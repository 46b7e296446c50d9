// Shiftbook's extension for pi: records sessions, gives the agent its memories, and takes its ratings of them.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { RATE_MEMORIES, forward } from "./forward.ts";

type Message = { role: string; content?: unknown };

export default function shiftbook(pi: ExtensionAPI): void {
  const about = (context: ExtensionContext) => ({
    session_id: context.sessionManager.getSessionId(),
    cwd: context.cwd,
  });

  pi.on("session_start", async (event, context) => {
    await forward("pi", "SessionStart", { ...about(context), source: event.reason });
  });

  pi.on("before_agent_start", async (event, context) => {
    // An extension, and no person, started this turn.
    if (event.messageType !== "user") return undefined;
    const content = await forward("pi", "UserPromptSubmit", { ...about(context), prompt: event.prompt });
    return content ? { message: { customType: "shiftbook", content, display: false } } : undefined;
  });

  pi.on("tool_call", async (event, context) => {
    const call = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId };
    await forward("pi", "PreToolUse", { ...about(context), ...call });
    return undefined;
  });

  pi.on("tool_result", async (event, context) => {
    const call = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId };
    const text = textOf(event.content);
    const result = event.isError
      ? forward("pi", "PostToolUseFailure", { ...about(context), ...call, error: text })
      : forward("pi", "PostToolUse", { ...about(context), ...call, tool_response: text });
    await result;
    return undefined;
  });

  pi.on("agent_end", async (event, context) => {
    const messages = event.messages as Message[];
    const last = messages.filter((message) => message.role === "assistant").at(-1);
    await forward("pi", "Stop", { ...about(context), last_assistant_message: textOf(last?.content) });
  });

  pi.on("session_shutdown", async (event, context) => {
    if (event.reason === "reload") return;
    await forward("pi", "SessionEnd", { ...about(context), reason: event.reason });
  });

  const { name, description, parameters, answer } = RATE_MEMORIES;
  pi.registerTool({
    name,
    label: "Rate memories",
    description,
    parameters: parameters as never,
    // The ratings reach Shiftbook with the call.
    execute: async () => ({ content: [{ type: "text", text: answer }], details: {} }),
  });
}

/** The texts of a message or of a result, one per line. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const texts = content.map((part) => (part?.type === "text" ? String(part.text) : ""));
  return texts.filter((text) => text !== "").join("\n");
}
