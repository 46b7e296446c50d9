// Shiftbook's plugin for OpenCode: records sessions, gives the agent its memories, and takes its ratings of them.

import type { Plugin } from "@opencode-ai/plugin";
import { MCP, forward } from "./shiftbook/forward.ts";

/** Most sessions and calls that are remembered at a time; the oldest are forgotten. */
const REMEMBERED_MAX = 1_000;
const RATINGS = /<memory-feedback>[^]*?<\/memory-feedback>/g;

/** Events that the types of the plugin do not all have. */
type Event = { type: string; properties: Record<string, any> };
type Call = { tool_name: string; tool_input: unknown; tool_use_id: string };

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  const oldest = map.size >= REMEMBERED_MAX ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}

export const Shiftbook: Plugin = async ({ directory }) => {
  /** Sessions of subagents, and the session that started each. */
  const parents = new Map<string, string>();
  /** The newest text of each session that is open, with its ratings. */
  const said = new Map<string, string>();
  const calls = new Map<string, Call>();
  /** Permissions that were requested, and their sessions. */
  const requested = new Map<string, string>();

  const about = (session: string) => {
    let first = session;
    for (let parent = parents.get(first); parent !== undefined; parent = parents.get(first)) first = parent;
    return { session_id: first, cwd: directory, ...(first === session ? {} : { agent_id: session }) };
  };

  const on: Record<string, (properties: Record<string, any>) => Promise<unknown> | undefined> = {
    "session.created": ({ info }) => {
      if (info?.parentID) remember(parents, info.id, info.parentID);
      return undefined;
    },
    "permission.asked": ({ id, sessionID, permission, metadata, tool }) => {
      remember(requested, id, sessionID);
      const call = calls.get(tool?.callID) ?? { tool_name: permission, tool_input: metadata };
      return forward("opencode", "PermissionRequest", { ...about(sessionID), ...call });
    },
    "permission.replied": ({ sessionID, requestID, reply }) => {
      const isOurs = requested.delete(requestID);
      return isOurs && reply === "reject" ? forward("opencode", "PermissionDenied", about(sessionID)) : undefined;
    },
    "session.error": ({ sessionID, error }) => {
      if (!sessionID || parents.has(sessionID)) return undefined;
      const text = error?.data?.message ?? error?.name ?? "error";
      return forward("opencode", "StopFailure", { ...about(sessionID), error: String(text) });
    },
    "session.idle": ({ sessionID }) => {
      const text = said.get(sessionID);
      if (text === undefined || parents.has(sessionID)) return undefined;
      // The session stays remembered until its end; this text is sent once.
      said.set(sessionID, "");
      return forward("opencode", "Stop", { ...about(sessionID), last_assistant_message: text });
    },
  };

  const running = new Set<Promise<unknown>>();

  return {
    // With it the tool `shiftbook_rate_memories` needs no change of opencode.json.
    config: async (config) => {
      config.mcp = { shiftbook: { type: "local", command: MCP, enabled: true }, ...config.mcp };
    },

    event: async ({ event }) => {
      const { type, properties } = event as Event;
      const work = on[type]?.(properties);
      if (!work) return;
      running.add(work);
      await work;
      running.delete(work);
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      // A subagent's prompt is written by the agent.
      if (parents.has(sessionID)) return;
      remember(said, sessionID, "");
      const typed = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : []));
      const prompt = { ...about(sessionID), prompt_id: message.id, prompt: typed.join("\n") };
      const context = await forward("opencode", "UserPromptSubmit", prompt);
      if (!context) return;
      const id = `prt_${Date.now().toString(36)}`;
      parts.push({ id, sessionID, messageID: message.id, type: "text", text: context, synthetic: true });
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID };
      remember(calls, callID, call);
      await forward("opencode", "PreToolUse", { ...about(sessionID), ...call });
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      calls.delete(callID);
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID };
      // The result of an MCP tool is its content.
      const tool_response = result?.output ?? result;
      await forward("opencode", "PostToolUse", { ...about(sessionID), ...call, tool_response });
    },

    // People do not see the ratings of an answer. The server takes them from the text that the turn ends with.
    "experimental.text.complete": async ({ sessionID }, output) => {
      if (said.has(sessionID)) said.set(sessionID, output.text);
      const shown = output.text.replace(RATINGS, "");
      if (shown !== output.text) output.text = shown.trim();
    },

    dispose: async () => {
      await Promise.allSettled(running);
      const end = (id: string) => forward("opencode", "SessionEnd", { ...about(id), reason: "exit" });
      await Promise.all([...said.keys()].map(end));
    },
  };
};
