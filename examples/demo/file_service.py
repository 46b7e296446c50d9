#!/usr/bin/env python3
"""A small HTTP service for tools: counts in files of the folder that it is started in.

`python3 examples/demo/file_service.py 4290` answers GET /lines?file=README.md and GET /words?file=README.md.
The tools of tools.json call it.
"""

import http.server
import json
import pathlib
import sys
import urllib.parse

COUNTS = {"/lines": lambda text: text.count("\n"), "/words": lambda text: len(text.split())}


class Service(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        file = pathlib.Path(urllib.parse.parse_qs(address.query).get("file", [""])[0])
        # Only files below this folder are read.
        if address.path not in COUNTS or not file.is_file() or not file.resolve().is_relative_to(pathlib.Path.cwd()):
            return self.answer(404, {"error": f"there is no file {file} below this folder, or no such count"})
        count = COUNTS[address.path](file.read_text(encoding="utf-8", errors="replace"))
        return self.answer(200, {"file": str(file), "count": count})

    def answer(self, status, body):
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Service).serve_forever()
