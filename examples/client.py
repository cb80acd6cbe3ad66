#!/usr/bin/env python3
"""Example client: sends events to the waylore daemon and requests notes.

Usage: client.py SOCKET PROJECT   (the daemon runs: `waylore serve`)
See docs/reference/protocol.md. Needs only the standard library.
"""

import json
import socket
import sys
import time
import uuid


class Waylore:
    """One connection: events have no answer, requests have one."""

    def __init__(self, path, project):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(3)  # a caller should continue without memory after this time
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.session, self.count = str(uuid.uuid4()), 0
        self.send_event("session_start", project_root=project, agent="example")

    def send_event(self, event, **fields):
        self.count += 1
        self._send({"event": event, "event_id": str(self.count), "session_id": self.session,
                    "at": int(time.time() * 1000), **fields})

    def request(self, request, **fields):
        self.count += 1
        self._send({"id": self.count, "request": request, "session_id": self.session, **fields})
        for line in self.lines:
            answer = json.loads(line)
            if answer.get("id") != self.count:
                print("an event was refused:", answer["error"]["message"], file=sys.stderr)
            elif "error" in answer:
                raise RuntimeError(answer["error"]["message"])
            else:
                return answer["ok"]
        raise ConnectionError("the daemon closed the connection")

    def _send(self, message):
        self.socket.sendall((json.dumps(message) + "\n").encode())


def main():
    memory = Waylore(sys.argv[1], sys.argv[2])
    memory.send_event("user_message", text="Why is the token rejected?")
    for hit in memory.request("search", query="does verify() want milliseconds?")["hits"]:
        print(f"{hit['type']}: {hit['content']} (#{hit['id'][-8:]})")
    memory.send_event("tool_call", call_id="c1", tool="read", args={"paths": ["src/auth.rs"]})
    memory.send_event("tool_result", call_id="c1", tool="read", ok=True)
    print(memory.request("step_context", files=["src/auth.rs"])["text"] or "no note about the file")
    memory.request("record", type="decision", content="Tokens are checked in src/auth.rs only")
    memory.request("validate", kind="qa_passed", ok=True)
    print("learned:", memory.request("finish", outcome="success", wait=True)["learned"])


if __name__ == "__main__":
    main()
