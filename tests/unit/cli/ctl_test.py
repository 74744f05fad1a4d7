#!/usr/bin/env python3
"""ctl_test.py WEFT: a manager that ends while `weft ctl` waits for a request leaves its outcome unknown. The client does not
say that there was no manager: the request may be carried out."""

import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading

CTL_PENDING = 1


def serve_once(listener, path):
    connection, _ = listener.accept()
    connection.recv(4096)
    text = b"ticket 7\n"
    connection.send(struct.pack("iI", CTL_PENDING, len(text)) + text)
    os.unlink(path)
    listener.close()
    connection.close()


with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "sm.sock")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen(1)
    thread = threading.Thread(target=serve_once, args=(listener, path))
    thread.start()
    command = [sys.argv[1], "ctl", "--socket", path, "vm", "stop", "web1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    thread.join()
    if done.returncode == 0 or "outcome is not known" not in done.stderr or "no server" in done.stderr:
        sys.exit(f"not ok - weft ctl says that the outcome is not known: {done.returncode} {done.stdout}{done.stderr}")
print("ok - weft ctl says that the outcome is not known")
