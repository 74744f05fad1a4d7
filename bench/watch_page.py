"""watch_page.py URL: reads what the live page reads, until it is ended.

Opens the stream of events, reads info, topology and state, and reads them again after each "reset" and "lost".
Prints a line with totals after each event."""
import sys
import threading
import urllib.request

url = sys.argv[1] + "/api/v1"
totals = {"ticks": 0, "resets": 0, "bytes": 0, "reads": 0}
again = threading.Event()


def read_all():
    while True:
        again.wait()
        again.clear()
        for path in ("/info", "/topology", "/state"):
            with urllib.request.urlopen(url + path) as answer:
                totals["bytes"] += len(answer.read())
        totals["reads"] += 1


stream = urllib.request.urlopen(url + "/events")
again.set()
threading.Thread(target=read_all, daemon=True).start()
for line in stream:
    totals["bytes"] += len(line)
    if line == b"event: tick\n":
        totals["ticks"] += 1
    elif line in (b"event: reset\n", b"event: lost\n"):
        totals["resets"] += 1
        again.set()
    elif line == b"\n":
        print(", ".join(f"{count} {name}" for name, count in totals.items()), flush=True)
