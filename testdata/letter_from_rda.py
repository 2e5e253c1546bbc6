#!/usr/bin/env python3
"""Write R's LetterRecognition.rda (package mlbench) in UCI's text form.

usage: letter_from_rda.py LetterRecognition.rda > letter.csv

An .rda file is a compressed stream of R's serialisation, here in its XDR form
(big-endian), described in "R Internals", section 1.8. This reads just the
kinds of object that a data frame of one factor and integer-valued columns is
made of, and stops at anything else.
"""
import bz2, gzip, lzma, struct, sys

NILVALUE, REFERENCE, SYMBOL, PAIRLIST, CHARSXP = 254, 255, 1, 2, 9
INTSXP, REALSXP, STRSXP, VECSXP = 13, 14, 16, 19


class Reader:
    def __init__(self, data):
        self.data, self.at, self.symbols = data, 0, []

    def take(self, n):
        piece = self.data[self.at:self.at + n]
        if len(piece) != n:
            sys.exit(f"offset {self.at}: the file ends, {n} more bytes wanted")
        self.at += n
        return piece

    def int(self):
        return struct.unpack(">i", self.take(4))[0]

    def item(self):
        """Return (value, attributes) of the next object."""
        flags = self.int()
        kind, has_attributes, has_tag = flags & 255, flags & 512, flags & 1024
        if kind == NILVALUE:
            return None, {}
        if kind == SYMBOL:
            name = self.item()[0]
            self.symbols.append(name)
            return name, {}
        if kind == REFERENCE:
            return self.symbols[(flags >> 8) - 1], {}
        if kind == CHARSXP:
            n = self.int()
            return None if n == -1 else self.take(n).decode("ascii"), {}
        if kind == PAIRLIST:
            out = {}
            while kind == PAIRLIST:
                if flags & 512:
                    self.item()
                tag = self.item()[0] if flags & 1024 else None
                out[tag] = self.item()
                flags = self.int()
                kind = flags & 255
            if kind != NILVALUE:
                sys.exit(f"offset {self.at}: a list ends in an object of type {kind}")
            return out, {}
        if kind == INTSXP:
            n = self.int()
            value = list(struct.unpack(f">{n}i", self.take(4 * n)))
        elif kind == REALSXP:
            n = self.int()
            value = list(struct.unpack(f">{n}d", self.take(8 * n)))
        elif kind in (STRSXP, VECSXP):
            value = [self.item() for _ in range(self.int())]
            if kind == STRSXP:
                value = [v[0] for v in value]
        else:
            sys.exit(f"offset {self.at}: object of type {kind} not expected")
        attributes = self.item()[0] if has_attributes else {}
        return value, attributes


def main(path):
    raw = open(path, "rb").read()
    for magic, unpack in ((b"\xfd7zXZ", lzma.decompress), (b"BZh", bz2.decompress), (b"\x1f\x8b", gzip.decompress)):
        if raw.startswith(magic):
            raw = unpack(raw)
            break
    r = Reader(raw)
    head = r.take(7)
    if head not in (b"RDX2\nX\n", b"RDX3\nX\n"):
        sys.exit(f"{path}: starts with {head!r}; wanted RDX2 or RDX3 in XDR form")
    version = r.int()
    r.take(8)  # versions of R that wrote it and that can read it
    if version == 3:
        r.take(r.int())  # name of the native encoding
    objects, _ = r.item()
    columns, attributes = objects["LetterRecognition"]
    names = attributes["names"][0]
    if names[0] != "lettr" or len(names) != 17:
        sys.exit(f"{path}: columns {names}; wanted lettr and 16 features")
    codes, factor = columns[0]
    levels = factor["levels"][0]
    features = [c[0] for c in columns[1:]]
    if len(codes) != 20000 or any(len(f) != len(codes) for f in features):
        sys.exit(f"{path}: wanted 17 columns of 20000 rows")
    out = []
    for i, code in enumerate(codes):
        row = [f[i] for f in features]
        if any(v != int(v) or not 0 <= v <= 15 for v in row):
            sys.exit(f"{path}: row {i + 1}: {row}; wanted integers from 0 to 15")
        out.append(",".join([levels[code - 1]] + [str(int(v)) for v in row]) + "\n")
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
