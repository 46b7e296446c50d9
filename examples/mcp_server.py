"""An MCP server with one tool, for docs/tools.md. It needs the package `mcp` of PyPI.

The operator of Shiftbook allows it in the settings file:

    [mcp.tables]
    workspace = "acme"
    command = ["python3", "examples/mcp_server.py"]
"""

from mcp.server import MCPServer

server = MCPServer("tables")


@server.tool()
def area(width: float, length: float) -> float:
    """The area of a table top in square metres."""
    return round(width * length, 3)


if __name__ == "__main__":
    server.run()
