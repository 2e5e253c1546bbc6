#!/usr/bin/env python3
"""Writes the golden files of this folder with NumPy and SciPy; see README.md."""
import gzip, struct
import numpy as np
import scipy.sparse as sp

# Exact in float32 and in int8 where that is asked for; -0 and zeros among them.
X = np.array([[0.5, 0, -3, 7], [0, 0, 0, 0], [1e-3, -0.0, 2, 0], [127, -128, 1, 0], [0, 0, 0, 2.25]])
I = np.array([[1, 0, -3, 7], [0, 0, 0, 0], [1, 0, 2, 0], [127, -128, 1, 0], [0, 0, 0, 2]])
names = np.array(["ant", "bee", "ant", "cow", "bée"])
y = np.array([3, -1, 3, 10, 0])

def csv(path, m, labels):
    with open(path, "w") as f:
        for row, label in zip(m, labels):
            f.write(",".join(repr(float(v)) for v in row) + "," + str(label) + "\n")

csv("x.csv", X, names)
csv("xy.csv", X, y)
csv("i.csv", I, y)

np.save("f4.npy", X.astype("<f4"))
np.save("f8.npy", X)
np.save("f8big.npy", X.astype(">f8"))
np.save("f4fortran.npy", np.asfortranarray(X.astype("f4")))
np.save("f8fortran.npy", np.asfortranarray(X))
np.save("cube.npy", X.reshape(5, 2, 2))
for t in ["i1", "<i2", ">i4", "<i8"]:
    np.save("i_%s.npy" % t.strip("<>"), I.astype(t))
np.save("u1.npy", np.abs(I).astype("u1"))
np.save("names.npy", names)
np.save("names_bytes.npy", np.array(["ant", "bee", "ant", "cow", "bee"]).astype("S"))
np.save("y.npy", y)
np.save("y_float.npy", y.astype("f8"))
np.save("y_two.npy", np.stack([y, y[::-1]], 1))
np.save("half.npy", X.astype("f2"))
np.save("objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
np.savez("arrays.npz", X=X, y=y)
np.savez_compressed("other.npz", features=X.astype("f4"), target=names)

# Not csr_matrix(X), which would lose -0.
kept = (X != 0) | np.signbit(X)
indptr, indices = np.concatenate([[0], kept.sum(1).cumsum()]), np.nonzero(kept)[1]
m = sp.csr_matrix((X[kept], indices, indptr), shape=X.shape)
sp.save_npz("sparse.npz", m.astype("f4"))
sp.save_npz("sparse_plain.npz", m, compressed=False)
sp.save_npz("sparse_csc.npz", sp.csc_matrix(X))
s = sp.csr_matrix((np.array([7.0, 0.5, -3.0]), np.array([3, 0, 2]), np.array([0, 3, 3])), shape=(2, 4))
sp.save_npz("sparse_unsorted.npz", s)
t = sp.csr_matrix((np.array([7.0, 0.5, -3.0]), np.array([3, 0, 3]), np.array([0, 3, 3])), shape=(2, 4))
sp.save_npz("sparse_twice.npz", t)

def idx(path, code, a, dtype):
    with gzip.GzipFile(path, "wb", mtime=0) if path.endswith(".gz") else open(path, "wb") as f:
        f.write(struct.pack(">HBB", 0, code, a.ndim) + struct.pack(">%dI" % a.ndim, *a.shape))
        f.write(a.astype(dtype).tobytes())

idx("images-idx3-ubyte", 0x08, np.abs(I).reshape(5, 2, 2), "u1")
idx("labels-idx1-ubyte.gz", 0x08, np.array([3, 1, 3, 10, 0]), "u1")
idx("i1-idx2", 0x09, I, "i1")
idx("i2-idx2", 0x0B, I, ">i2")
idx("i4-idx2", 0x0C, I, ">i4")
idx("f4-idx2", 0x0D, X, ">f4")
idx("f8-idx2", 0x0E, X, ">f8")
