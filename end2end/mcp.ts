/** An MCP server over streamable HTTP for the tests: it lists tools and answers their calls. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface McpTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: object;
}

interface Params {
  protocolVersion?: string;
  name?: string;
  arguments?: Record<string, unknown>;
}

/** What an MCP server offers, and what a call returns as structured content. */
export interface Offer {
  tools: McpTool[];
  call: (name: string, input: Record<string, unknown>) => object;
}

/** What the server answers to a request; nothing for those that it does not know and for notifications. */
function resultOf(offer: Offer, method: string, params: Params): unknown {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "test", version: "1" } };
  }
  if (method === "tools/list") return { tools: offer.tools };
  if (method === "tools/call") {
    return { content: [], structuredContent: offer.call(params.name ?? "", params.arguments ?? {}) };
  }
  return undefined;
}

/** Answers a request of the protocol. */
async function answerMcp(request: IncomingMessage, response: ServerResponse, offer: Offer) {
  let text = "";
  for await (const chunk of request) text += chunk;
  if (request.method === "DELETE") return response.writeHead(204).end();
  const { id, method, params } = JSON.parse(text);
  const result = resultOf(offer, method, params ?? {});
  if (result === undefined) return response.writeHead(202).end();
  response.writeHead(200, { "content-type": "application/json" });
  return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

/**
 * Starts a service on this machine: an MCP server at /mcp, and `other` at every other path. Returns its origin and
 * what ends it.
 */
export async function startService(offer: Offer, other: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    if (request.url === "/mcp") void answerMcp(request, response, offer);
    else other(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, close: () => void server.close() };
}
