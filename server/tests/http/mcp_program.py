"""An MCP server over standard input and output, for tests. It needs nothing but Python."""

import json
import os
import sys

OBJECT = {"type": "object"}
SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
TOOLS = [
    {"name": "add", "inputSchema": OBJECT, "outputSchema": SUM},
    {"name": "variable", "inputSchema": OBJECT},
    {"name": "crash", "inputSchema": OBJECT},
]


def call(name, arguments):
    if name == "crash":
        sys.exit(3)
    if name == "add":
        total = {"sum": arguments["a"] + arguments["b"]}
        return {"content": [{"type": "text", "text": json.dumps(total)}], "structuredContent": total}
    return {"content": [{"type": "text", "text": str(os.environ.get("SHIFTBOOK_TOKEN"))}]}


for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    print(f"{method} on standard error", file=sys.stderr, flush=True)
    if "id" not in request:
        continue
    params = request.get("params") or {}
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "program", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": TOOLS}
    else:
        result = call(params["name"], params.get("arguments") or {})
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
