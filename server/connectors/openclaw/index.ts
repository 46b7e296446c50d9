// Shiftbook's plugin for OpenClaw: records sessions, gives the agent its memories, and takes its ratings of them.

import { RATE_MEMORIES, forward } from "./forward.ts";

/** What this plugin uses of OpenClaw's API. */
type Context = { sessionId?: string; sessionKey?: string; workspaceDir?: string };
type Handler = (event: Record<string, any>, context: Context) => Promise<Record<string, unknown> | undefined>;
type Api = { on(hook: string, handler: Handler): void; registerTool(tool: Record<string, unknown>): void };

export default {
  id: "shiftbook",
  name: "Shiftbook",
  description: "Records sessions in Shiftbook and gives agents their memories.",
  register(api: Api): void {
    const about = (context: Context) => ({
      session_id: context.sessionId ?? context.sessionKey ?? "unknown",
      cwd: context.workspaceDir,
    });

    api.on("before_prompt_build", async (event, context) => {
      const content = await forward("openclaw", "UserPromptSubmit", { ...about(context), prompt: event.prompt });
      return content ? { appendContext: content } : undefined;
    });

    api.on("before_tool_call", async ({ toolName, params, toolCallId }, context) => {
      const call = { tool_name: toolName, tool_input: params, tool_use_id: toolCallId };
      await forward("openclaw", "PreToolUse", { ...about(context), ...call });
      return undefined;
    });

    api.on("after_tool_call", async ({ toolName, params, toolCallId, result, error }, context) => {
      const call = { tool_name: toolName, tool_input: params, tool_use_id: toolCallId };
      const sent = error
        ? forward("openclaw", "PostToolUseFailure", { ...about(context), ...call, error: String(error) })
        : forward("openclaw", "PostToolUse", { ...about(context), ...call, tool_response: result });
      await sent;
      return undefined;
    });

    api.on("agent_end", async ({ messages }, context) => {
      const last = (messages ?? []).filter((message: { role: string }) => message.role === "assistant").at(-1);
      await forward("openclaw", "Stop", { ...about(context), last_assistant_message: textOf(last?.content) });
      return undefined;
    });

    // Not called by `openclaw agent --local`: such a session stays idle.
    api.on("session_end", async ({ reason }, context) => {
      await forward("openclaw", "SessionEnd", { ...about(context), reason });
      return undefined;
    });

    const { name, description, parameters, answer } = RATE_MEMORIES;
    // The ratings reach Shiftbook with the call.
    const execute = async () => ({ content: [{ type: "text", text: answer }] });
    api.registerTool({ name, label: "Rate memories", description, parameters, execute });
  },
};

/** The texts of a message, one per line. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const texts = content.map((part) => (part?.type === "text" ? String(part.text) : ""));
  return texts.filter((text) => text !== "").join("\n");
}
