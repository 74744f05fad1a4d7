"""slow_connections.py ADDRESS:PORT COUNT: keeps connections with half a request open until it is ended.

Every connection sends one more byte each second. One that the server closes is opened again."""
import resource
import socket
import sys
import time

host, port = sys.argv[1].rsplit(":", 1)
count = int(sys.argv[2])
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 2 * count + 64), limit))


def connect():
    connection = socket.create_connection((host, int(port)))
    connection.send(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ")
    return connection


connections = [connect() for _ in range(count)]
print("connected", flush=True)
while True:
    time.sleep(1)
    for i, connection in enumerate(connections):
        try:
            connection.send(b"x")
        except OSError:
            connection.close()
            connections[i] = connect()
