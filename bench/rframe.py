#!/usr/bin/env python3
"""Two-class sets of a public benchmark of active learning, from data frames that Debian's R packages have, as CSV.

usage: rframe.py FOLDER
Downloads r-cran-mlbench, r-cran-caret and r-cran-kernlab by apt-get (nothing is installed, R is not needed) and writes
FOLDER/benchmark/NAME.csv, whose last column is the class, for `build/papers active-benchmark --data-dir FOLDER`.
Levels of factors become their numbers, and missing values the column's mean; splice, of three classes, is n against
the two kinds of junction.
"""
import bz2
import glob
import gzip
import lzma
import math
import os
import struct
import subprocess
import sys
import tempfile

# Name, package, file, data frame, column of the class, and the level that is class 1.
SETS = [
    ("sonar", "mlbench", "Sonar.rda", "Sonar", "Class", "R"),
    ("ionosphere", "mlbench", "Ionosphere.rda", "Ionosphere", "Class", "good"),
    ("breast", "mlbench", "BreastCancer.rda", "BreastCancer", "Class", "malignant"),
    ("diabetes", "mlbench", "PimaIndiansDiabetes.rda", "PimaIndiansDiabetes", "diabetes", "pos"),
    ("splice", "mlbench", "DNA.rda", "DNA", "Class", "n"),
    ("german", "caret", "GermanCredit.RData", "GermanCredit", "Class", "Good"),
    ("clean1", "kernlab", "musk.rda", "musk", "Class", "1"),
    ("spambase", "kernlab", "spam.rda", "spam", "type", "spam"),
]


class Reader:
    """R's serialization in XDR, as R-ints.html has it, of what data frames are made of."""

    def __init__(self, data):
        self.data, self.at, self.references = data, 0, []

    def take(self, form):
        size = struct.calcsize(">" + form)
        self.at += size
        return struct.unpack(">" + form, self.data[self.at - size : self.at])

    def int(self):
        return self.take("i")[0]

    def whole(self):
        """Returns the objects that a file saved, by name."""
        assert self.data[:4] == b"RDX2" or self.data[:4] == b"RDX3", self.data[:4]
        self.at = 7  # behind the format, X for XDR, of the stream
        version = self.take("iii")[0]
        if version == 3:
            self.at += self.int()  # encoding
        return self.item()

    def item(self):
        flags = self.int()
        kind, attributes, tag = flags & 255, flags & 512, flags & 1024
        if kind in (254, 242, 253, 252, 251):  # NULL, empty environment and such
            return None
        if kind == 255:
            return self.references[(flags >> 8 or self.int()) - 1]
        if kind == 1:
            self.references.append(self.item())
            return self.references[-1]
        if kind == 2:  # pairs, to the end of the list
            pairs = {}
            while kind == 2:
                if flags & 512:
                    self.item()
                name = self.item() if flags & 1024 else None
                pairs[name] = self.item()
                flags = self.int()
                kind = flags & 255
            assert kind == 254, kind
            return pairs
        if kind == 9:
            size = self.int()
            return None if size < 0 else self.take(f"{size}s")[0].decode("latin-1")
        if kind == 238:  # a compact form: what it is, its state, attributes
            info, state, _ = self.item(), self.item(), self.item()
            name = list(info.values())[0]
            if name == "compact_intseq":
                n, first, step = state[0]
                return [int(first + k * step) for k in range(int(n))], {}
            return state[0] if isinstance(state, tuple) else list(state.values())[0]
        size = self.int()
        if kind in (10, 13):
            values = [None if v == -(2**31) else v for v in self.take(f"{size}i")]
        elif kind == 14:
            values = [None if math.isnan(v) else v for v in self.take(f"{size}d")]
        elif kind in (16, 19):
            values = [self.item() for _ in range(size)]
        else:
            raise ValueError(f"found an object of kind {kind}, wanted what data frames are made of")
        return values, self.item() if attributes else {}


def unpacked(path):
    with open(path, "rb") as f:
        data = f.read()
    for start, unpack in (b"\x1f\x8b", gzip.decompress), (b"BZ", bz2.decompress), (b"\xfd7z", lzma.decompress):
        if data.startswith(start):
            return unpack(data)
    return data


def csv(frame, label, positive):
    """Returns lines of a data frame."""
    columns, attributes = frame
    rows, names = None, attributes["names"][0]
    for name, (values, more) in zip(names, columns):
        levels = more.get("levels", (None, None))[0]
        if name == label:
            classes = [int((levels[v - 1] if levels else str(v)) == positive) for v in values]
            continue
        if name == "Id" or isinstance(values[0], str):
            continue
        known = [v for v in values if v is not None]
        if len(set(known)) < 2:
            continue
        mean = sum(known) / len(known)
        rows = rows or [[] for _ in values]
        for row, v in zip(rows, values):
            row.append(f"{mean if v is None else v:.9g}")
    return [",".join(row) + f",{k}\n" for row, k in zip(rows, classes)]


def main(folder):
    os.makedirs(os.path.join(folder, "benchmark"), exist_ok=True)
    with tempfile.TemporaryDirectory() as debs:
        for package in sorted({s[1] for s in SETS}):
            subprocess.run(["apt-get", "-q", "download", "r-cran-" + package], cwd=debs, check=True, capture_output=True)
        for deb in glob.glob(debs + "/*.deb"):
            subprocess.run(["dpkg-deb", "-x", deb, debs], check=True)
        for name, package, file, frame, label, positive in SETS:
            data = Reader(unpacked(f"{debs}/usr/lib/R/site-library/{package}/data/{file}")).whole()
            lines = csv(data[frame], label, positive)
            with open(os.path.join(folder, "benchmark", name + ".csv"), "w") as f:
                f.writelines(lines)
            ones = sum(line.endswith(",1\n") for line in lines)
            print(f"{name}: {len(lines)} examples of {lines[0].count(',')} features, {ones} of class 1")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
