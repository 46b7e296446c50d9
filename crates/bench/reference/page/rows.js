// Events as rows: what Shiftbook's page says of them, in plain JavaScript.

const GROUPS = {
  "agent.message": "messages",
  "user.message": "messages",
  "agent.thinking": "thinking",
  "agent.tool_call": "tools",
  "agent.tool_result": "tools",
};

export function groupOf(type) {
  return GROUPS[type] ?? (type.startsWith("session.") ? "state" : "other");
}

export function speakerOf(event) {
  return event.type.startsWith("agent.") ? "agent" : event.type.startsWith("session.") ? "system" : event.role;
}

/** An answer whose call is on the page stands beside its call; an event that held nothing else has no row of its own. */
export function rowsOf(events) {
  const calls = new Map();
  const rows = [];
  for (const event of events) {
    let moved = 0;
    for (const part of event.content) {
      if (part.type === "tool-result" && calls.has(part.toolCallId)) {
        const row = calls.get(part.toolCallId);
        calls.delete(part.toolCallId);
        row.answers ??= new Map();
        row.answers.set(part.toolCallId, { part, event });
        moved += 1;
      }
    }
    if (moved > 0 && moved === event.content.length) continue;
    const row = { event, answers: undefined };
    rows.push(row);
    for (const part of event.content) {
      if (part.type === "tool-call") calls.set(part.toolCallId, row);
    }
  }
  return rows;
}

export function oneLine(text, max) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > max ? `${line.slice(0, max)}…` : line;
}

/** `article: "M8 x 40", pieces: 500` */
export function argumentsOf(input) {
  const members = Object.entries(input).map(([key, value]) => `${key}: ${oneLine(JSON.stringify(value), 48)}`);
  return oneLine(members.join(", "), 120);
}
