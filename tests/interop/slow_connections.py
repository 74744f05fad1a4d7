"""slow_connections.py ADDRESS:PORT COUNT [TOKEN]: keeps connections with half a request open until it is ended.

Every connection sends one more byte each second. One that the server closes is opened again. With the token of a live
page, every third connection sends the body of an action byte by byte, and every third one asks for the stream of events
and reads nothing."""
import resource
import socket
import sys
import time

host, port = sys.argv[1].rsplit(":", 1)
count = int(sys.argv[2])
requests = [b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: "]
if len(sys.argv) > 3:
    requests.append(f"POST /api/v1/actions HTTP/1.1\r\nHost: localhost\r\nX-Weft-Token: {sys.argv[3]}\r\nContent-Length: 9999\r\n\r\ndo="
                    .encode())
    requests.append(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 2 * count + 64), limit))


def connect(number):
    connection = socket.create_connection((host, int(port)))
    try:
        connection.send(requests[number % len(requests)])
    except OSError:
        pass  # closed at once: opened again below
    return connection


connections = [connect(i) for i in range(count)]
print("connected", flush=True)
while True:
    time.sleep(1)
    for i, connection in enumerate(connections):
        try:
            connection.send(b"x")
        except OSError:
            connection.close()
            connections[i] = connect(i)
