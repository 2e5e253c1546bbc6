#!/usr/bin/env python3
"""Draws the regions that UMA finds in banana under 30 % symmetric noise:

    bench/regions.py UMA-GPU DATA OUT.png [FLAG...]

FLAGs go to the training."""
import gzip
import os
import struct
import subprocess
import sys
import tempfile
import zlib

EDGE, CELLS, PIXELS = 3.2, 300, 2  # the square [-EDGE, EDGE]² in cells of 2×2 pixels
SOFT = (bytes((214, 228, 245)), bytes((250, 226, 206)))
STRONG = (bytes((44, 98, 160)), bytes((196, 98, 26)))


def side(name):
    return 0 if name.startswith("-") else 1  # banana's first class is -1.0


def write_png(path, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", len(rows), len(rows), 8, 2, 0, 0, 0)
    text = b"".join(b"\0" + bytes(row) for row in rows)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(text, 9)) + chunk(b"IEND", b""))


def main():
    program, data, out = map(os.path.realpath, sys.argv[1:4])
    os.chdir(tempfile.mkdtemp())

    def run(*args):
        return subprocess.run((program, *args, "--quiet"), check=True, stdout=subprocess.PIPE, text=True).stdout

    with gzip.open(os.path.join(data, "banana/banana.dat.gz"), "rt") as f, open("all.csv", "w") as g:
        g.writelines(line for line in f if not line.startswith("@"))
    run("split", "--data", "all.csv", "--fractions", "0.7,0.3", "--seed", "1", "--out", "train.csv", "--out", "test.csv")
    run("confusion", "inject", "--data", "train.csv", "--symmetric", "0.3", "--seed", "1", "--out", "noisy.csv",
        "--write-confusion", "C.csv")
    run("train", "--data", "noisy.csv", "--confusion", "C.csv", "--learner", "uma", "--kernel", "rbf", "--gamma",
        "search", "--model", "m.npz", *sys.argv[4:])
    print(*(line for line in run("eval", "--model", "m.npz", "--data", "test.csv").splitlines()
            if line.startswith("error rate")))
    at = [EDGE * (2 * i + 1 - CELLS) / CELLS for i in range(CELLS)]
    with open("grid.csv", "w") as f:
        f.writelines(f"{x:g},{-y:g}\n" for y in at for x in at)
    run("predict", "--model", "m.npz", "--data", "grid.csv", "--no-labels", "--out", "classes.txt")
    with open("classes.txt") as f:
        classes = f.read().split()
    rows = []
    for i in range(CELLS):
        row = b"".join(SOFT[side(name)] * PIXELS for name in classes[i * CELLS:(i + 1) * CELLS])
        rows += [bytearray(row) for _ in range(PIXELS)]
    with open("noisy.csv") as f:
        for line in f:
            x, y, name = line.strip().split(",")
            left, top = (int((v + EDGE) / (2 * EDGE) * len(rows)) for v in (float(x), -float(y)))
            for k in range(4):
                if 0 <= left + k % 2 < len(rows) and 0 <= top + k // 2 < len(rows):
                    at_pixel = 3 * (left + k % 2)
                    rows[top + k // 2][at_pixel:at_pixel + 3] = STRONG[side(name)]
    write_png(out, rows)


main()
