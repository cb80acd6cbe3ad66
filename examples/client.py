#!/usr/bin/env python3
"""A program with a memory: tells waylore what it does, and asks what is known.

Usage: client.py SOCKET PROJECT   (the daemon runs: `waylore serve`)
See docs/reference/protocol.md. Nothing here is needed but Python's own library.
"""

import json
import socket
import sys
import time
import uuid


class Waylore:
    """One connection: events are told, requests are answered."""

    def __init__(self, path, project):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(3)  # a caller's last resort: go on without memory
        self.socket.connect(path)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.session, self.count = str(uuid.uuid4()), 0
        self.tell("session_start", project_root=project, agent="example")

    def tell(self, event, **fields):
        self.count += 1
        self._send({"event": event, "event_id": str(self.count), "session_id": self.session,
                    "at": int(time.time() * 1000), **fields})

    def ask(self, request, **fields):
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
        raise ConnectionError("the daemon went away")

    def _send(self, message):
        self.socket.sendall((json.dumps(message) + "\n").encode())


def main():
    memory = Waylore(sys.argv[1], sys.argv[2])
    memory.tell("user_message", text="Why is the token rejected?")
    for hit in memory.ask("search", query="does verify() want milliseconds?")["hits"]:
        print(f"{hit['type']}: {hit['content']} (#{hit['id'][-8:]})")
    memory.tell("tool_call", call_id="c1", tool="read", args={"paths": ["src/auth.rs"]})
    memory.tell("tool_result", call_id="c1", tool="read", ok=True)
    print(memory.ask("step_context", files=["src/auth.rs"])["text"] or "nothing to say about the file")
    memory.ask("record", type="decision", content="Tokens are checked in src/auth.rs only")
    memory.ask("validate", kind="qa_passed", ok=True)
    print("learned:", memory.ask("finish", outcome="success", wait=True)["learned"])


if __name__ == "__main__":
    main()
