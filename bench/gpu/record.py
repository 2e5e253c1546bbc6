#!/usr/bin/env python3
"""What run.sh needs and a shell has not.

record.py device WANTED
    reads what `uma-gpu devices --json` printed; prints the id of the device WANTED, or if that is ""
    of the first GPU, else of the first OpenCL device, and its type; nothing if there is none
record.py NAME CODE SECONDS LIMIT PRINTED TOLD
    prints a line of results.jsonl: a part of the run, its exit code, the seconds that it took and
    its results before, what it printed (the file PRINTED) and the end of what it told (TOLD)
"""
import json
import sys


def device(wanted):
    try:
        found = [d for d in json.load(sys.stdin)["devices"] if d["kind"] == "opencl"]
    except ValueError:
        return
    if wanted:
        found = [d for d in found if d["id"] == wanted]
    found.sort(key=lambda d: "GPU" not in d["type"].upper())  # which keeps their order
    if found:
        print(found[0]["id"], "GPU" if "GPU" in found[0]["type"].upper() else found[0]["type"])


def record(name, code, seconds, limit, printed, told):
    with open(printed, errors="replace") as f:
        text = f.read()
    with open(told, errors="replace") as f:
        end = f.read()[-2000:]
    try:
        text = json.loads(text)
    except ValueError:
        pass  # lines for people
    print(json.dumps({"part": name, "code": int(code), "seconds": int(seconds), "limit": int(limit),
                      "printed": text, "told": end}))


if __name__ == "__main__":
    if sys.argv[1] == "device":
        device(sys.argv[2])
    else:
        record(*sys.argv[1:])
