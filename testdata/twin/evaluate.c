/*
 * evaluate.c - a second, independent evaluation of weights that a test compares with, bit for bit.
 *
 * Written from the text of the numerics contract (clauses 1, 3, 11, 14 to 16 and 24 to 26, which
 * are cited below). It shares no code with the Go program. Meant to be read beside the contract.
 * -ffp-contract=off below is a part of it: every product is rounded unless fmaf is called.
 *
 * Build:  cc -O2 -std=c99 -ffp-contract=off -o evaluate evaluate.c -lm
 * Usage:  evaluate < problem > answer
 *         evaluate functions < numbers > answers
 *         evaluate trees < questions > answers
 *
 * The problem, little-endian, integers of 4 bytes and numbers as float32:
 *   n d Q N given rows R    examples, features, classes, examples of the whole set, 1 if the
 *                           targets are given, rows of targets, coefficients of an example
 *   X n x d, W Q x d, targets rows x Q, row of each example (n integers), weight of each (n),
 *   coefficients n x R
 * The answer, integers of 8 bytes: the refused examples, the sum of losses, the sums of residuals
 * Q x d, the weighted sums R x d; then the scores n x Q as float32. Of the functions: of each
 * float32 x its exp, and log and 1/x of its size. What trees reads and writes
 * is said below. Any failure: a message and exit status 1.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "float and double arithmetic must be carried out in their own types"
#endif

static void die(const char *what) {
    fprintf(stderr, "evaluate: %s\n", what);
    exit(1);
}

/* ---- reading and writing ---- */

static uint32_t get(void) {
    uint32_t v = 0;
    for (int b = 0; b < 32; b += 8) {
        int c = getchar();
        if (c == EOF) die("the problem ends too early");
        v |= (uint32_t)c << b;
    }
    return v;
}

static void put(uint64_t v, int bytes) {
    for (int b = 0; b < 8 * bytes; b += 8) putchar(v >> b & 255);
}

static float as_float(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
static uint32_t as_bits(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }

static void *alloc(size_t count, size_t size) {
    void *p = calloc(count + 1, size);
    if (!p) die("out of memory");
    return p;
}

static float *get_floats(size_t count) {
    float *v = alloc(count, sizeof *v);
    for (size_t i = 0; i < count; i++) v[i] = as_float(get());
    return v;
}

/* ---- clause 1 ---- */

static float dot(const float *x, const float *w, int d) {
    float sum = 0;
    for (int from = 0; from < d; from += 256) {
        float acc = 0;
        for (int j = from; j < d && j < from + 256; j++) acc = fmaf(x[j], w[j], acc);
        sum += acc;
    }
    return sum;
}

/* ---- clause 3 ---- */

static int format(float m, int64_t n) { /* s for the largest value m of n examples */
    int B = 0, E;
    frexp(m, &E); /* E = 0 for m = 0 */
    while (n >> B) B++;
    B = 62 - B - E;
    return B < -126 ? -126 : B > 126 ? 126 : B;
}

static int64_t fixed(float x, int s) { return (int64_t)rint(ldexp(x, s)); }

/* ---- clause 11 ---- */

static float expo(float x) {
    static const float c[] = {0x1.123a2p-7f, 0x1.5558f2p-5f, 0x1.555492p-3f, 0x1.fffffcp-2f, 1, 1};
    if (isnan(x)) return x;
    if (x < -0x1.5d589ep6f) return 0;
    if (x > 0x1.62e42ep6f) return INFINITY;
    float t = fmaf(x, 0x1.715476p0f, 0x1.8p23f), k = t - 0x1.8p23f;
    float r = fmaf(-k, 0x1.7f7d1cp-20f, fmaf(-k, 0x1.62e4p-1f, x)), p = 0x1.6a23dp-10f;
    for (int i = 0; i < 6; i++) p = fmaf(p, r, c[i]);
    return as_float(as_bits(p) + (as_bits(t) << 23));
}

/* ---- clause 15 ---- */

static float logarithm(float x) {
    static const float c[] = {0x1.055ba6p-3f, -0x1.0d8304p-3f, 0x1.22d9e4p-3f, -0x1.547282p-3f,
                              0x1.99a00ep-3f, -0x1.000226p-2f, 0x1.555554p-2f, -0.5f};
    uint32_t u = as_bits(x) - 0x3f3504f3u, part = u % (1u << 23);
    float k = (float)(((int64_t)u - (u >> 31 ? (int64_t)1 << 32 : 0) - part) / (1 << 23)); /* rounded down */
    float f = as_float(part + 0x3f3504f3u) - 1, p = -0x1.38c08ep-4f;
    for (int i = 0; i < 8; i++) p = fmaf(p, f, c[i]);
    float square = f * f, low = k * 0x1.7f7d1cp-20f;
    return fmaf(k, 0x1.62e4p-1f, f + fmaf(square, p, low));
}

static float reciprocal(float x) {
    float y = as_float(0x7ef311c7u - as_bits(x));
    for (int i = 0; i < 4; i++) y = fmaf(y, fmaf(-x, y, 1), y);
    return y;
}

/* p, d and L of Q scores; returns m, and leaves them alone if it is not finite. */
static float softmax(const float *s, int Q, float *p, float *d, float *L) {
    float m = s[0], S = 0;
    for (int k = 1; k < Q; k++) if (s[k] > m) m = s[k];
    if (!isfinite(m)) return m;
    for (int k = 0; k < Q; k++) {
        d[k] = s[k] - m;
        p[k] = expo(d[k]);
        S += p[k];
    }
    for (int k = 0; k < Q; k++) p[k] = p[k] * reciprocal(S);
    *L = logarithm(S);
    return m;
}

/* ---- clause 16: residuals to a, the loss returned, NaN for an example to be refused ---- */

static float residuals(const float *s, const float *t, float u, int Q, int given, float *a) {
    float *p = alloc(Q, 4), *d = alloc(Q, 4), *v = alloc(Q, 4), *p2 = alloc(Q, 4), *d2 = alloc(Q, 4);
    float L, L2, m, m2, loss = NAN;
    int finite = 1;
    for (int k = 0; k < Q; k++) finite = finite && isfinite(s[k]);
    if (finite && given) {
        softmax(s, Q, p, d, &L);
        loss = L;
        for (int k = 0; k < Q; k++) {
            loss = fmaf(-t[k], d[k], loss);
            a[k] = p[k] - t[k];
        }
    } else if (finite) {
        m = softmax(s, Q, p, d, &L);
        for (int k = 0; k < Q; k++) v[k] = s[k] + t[k];
        m2 = softmax(v, Q, p2, d2, &L2);
        if (isfinite(m2)) {
            float first = m - m2, second = L - L2;
            loss = first + second;
            for (int k = 0; k < Q; k++) a[k] = p[k] - p2[k];
        }
    }
    loss = loss * u;
    if (!(fabsf(loss) < 32768)) loss = NAN;
    for (int k = 0; k < Q; k++) a[k] = isnan(loss) ? 0 : a[k] * u;
    free(p); free(d); free(v); free(p2); free(d2);
    return loss;
}

/* ---- clause 14: sums count x d, for an s ---- */

static void weighted_sums(const float *x, const float *a, int n, int d, int count, int s) {
    for (int r = 0; r < count; r++)
        for (int j = 0; j < d; j++) {
            int64_t sum = 0;
            for (int from = 0; from < n; from += 256) {
                float acc = 0;
                for (int i = from; i < n && i < from + 256; i++)
                    acc = fmaf(a[(size_t)i * count + r], x[(size_t)i * d + j], acc);
                sum += fixed(acc, s);
            }
            put((uint64_t)sum, 8);
        }
}

/* ---- clauses 24 to 26 ---- */

/*
 * Trees begin with n F Q N given rows, bins of each feature (F), the bin of each example feature by
 * feature (F x n integers), targets rows x Q, row (n), weight (n), times (n), label (n). Then
 * come questions:
 *   1                          gradients: refused examples and losses, integers of 8 bytes
 *   2 class often              a tree of a class, -1 for labels; times count if often is 1
 *   3 node feature             its sums, bin by bin, integers of 8 bytes
 *   4 node feature left a b    left is a set, 8 words of 32 bits: the examples of each child, 8 bytes
 *   5 nodes leaves class       add a tree of nodes (feature, left, children; leaf l is -1-l) and its
 *                              values
 *   6                          the scores, n x Q
 */
static int is_in(const uint32_t *set, int bin) { return set[bin / 32] >> bin % 32 & 1; }

static int trees(void) {
    const int n = get(), F = get(), Q = get(), N = get(), given = get(), rows = get();
    if (n < 1 || F < 1 || Q < 1 || N < n || rows < 1) die("sizes make no sense");
    int *count = alloc(F, 4), *bin = alloc((size_t)n * F, 4), *row = alloc(n, 4);
    for (int f = 0; f < F; f++) count[f] = get();
    for (size_t i = 0; i < (size_t)n * F; i++) bin[i] = get();
    float *t = get_floats((size_t)rows * Q);
    for (int i = 0; i < n; i++) row[i] = get();
    float *u = get_floats(n), *scores = alloc((size_t)n * Q, 4), *a = alloc(Q, 4), *p = alloc(Q, 4);
    float *d = alloc(Q, 4), L;
    int *times = alloc(n, 4), *label = alloc(n, 4), *node = alloc(n, 4), class = 0, often = 0;
    int64_t *g = alloc((size_t)n * Q, 8), *h = alloc((size_t)n * Q, 8);
    for (int i = 0; i < n; i++) times[i] = get();
    for (int i = 0; i < n; i++) label[i] = get();
    for (int c; (c = getchar()) != EOF;) {
        ungetc(c, stdin);
        const int question = get();
        if (question == 1) {
            int64_t refused = 0, total = 0;
            for (int i = 0; i < n; i++) {
                float *s = scores + (size_t)i * Q;
                float loss = residuals(s, t + (size_t)row[i] * Q, u[i], Q, given, a);
                if (isnan(loss)) refused++;
                else {
                    total += fixed(loss, format(0x1.fffffep14f, N));
                    softmax(s, Q, p, d, &L);
                }
                for (int k = 0; k < Q; k++) {
                    float rest = 1 - p[k], product = p[k] * rest;
                    g[(size_t)i * Q + k] = isnan(loss) ? 0 : fixed(a[k], 18);
                    h[(size_t)i * Q + k] = isnan(loss) ? 0 : fixed(product * u[i], 18);
                }
            }
            put((uint64_t)refused, 8);
            put((uint64_t)total, 8);
        } else if (question == 2) {
            class = (int)get();
            often = get();
            for (int i = 0; i < n; i++) node[i] = often && !times[i] ? -1 : 0;
        } else if (question == 3) {
            const int at = get(), f = get(), width = class < 0 ? Q : 2;
            int64_t *sums = alloc((size_t)count[f] * width, 8);
            for (int i = 0; i < n; i++) {
                const int64_t m = often ? times[i] : 1;
                int64_t *own = sums + (size_t)bin[(size_t)f * n + i] * width;
                if (node[i] != at) continue;
                if (class < 0) own[label[i]] += m;
                else {
                    own[0] += m * g[(size_t)i * Q + class];
                    own[1] += m * h[(size_t)i * Q + class];
                }
            }
            for (int j = 0; j < count[f] * width; j++) put((uint64_t)sums[j], 8);
            free(sums);
        } else if (question == 4) {
            const int at = get(), f = get();
            uint32_t left[8];
            uint64_t went[2] = {0, 0};
            for (int j = 0; j < 8; j++) left[j] = get();
            const int a0 = get(), b0 = get(), child[2] = {a0, b0};
            for (int i = 0; i < n; i++) {
                const int side = !is_in(left, bin[(size_t)f * n + i]);
                if (node[i] != at) continue;
                node[i] = child[side];
                went[side]++;
            }
            put(went[0], 8);
            put(went[1], 8);
        } else if (question == 5) {
            const int nodes = get(), leaves = get(), of = (int)get();
            uint32_t *tree = alloc((size_t)nodes * 11, 4);
            for (int j = 0; j < nodes * 11; j++) tree[j] = get();
            float *values = get_floats((size_t)leaves * (of < 0 ? Q : 1));
            for (int i = 0; i < n; i++) {
                int at = nodes ? 0 : -1;
                while (at >= 0) {
                    const uint32_t *own = tree + 11 * (size_t)at;
                    at = (int)own[is_in(own + 1, bin[(size_t)own[0] * n + i]) ? 9 : 10];
                }
                for (int k = 0; k < Q; k++)
                    if (of < 0) scores[(size_t)i * Q + k] += values[(size_t)(-1 - at) * Q + k];
                    else if (of == k) scores[(size_t)i * Q + k] += values[-1 - at];
            }
            free(tree); free(values);
        } else if (question == 6) {
            for (size_t i = 0; i < (size_t)n * Q; i++) put(as_bits(scores[i]), 4);
        } else die("there is no such question");
    }
    return 0;
}

static int functions(void) {
    for (int c; (c = getchar()) != EOF;) {
        ungetc(c, stdin);
        float x = as_float(get());
        put(as_bits(expo(x)), 4);
        put(as_bits(logarithm(fabsf(x))), 4);
        put(as_bits(reciprocal(fabsf(x))), 4);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "functions")) return functions();
    if (argc == 2 && !strcmp(argv[1], "trees")) return trees();
    const int n = get(), d = get(), Q = get(), N = get(), given = get(), rows = get(), R = get();
    if (n < 1 || d < 1 || Q < 1 || N < n || rows < 1 || R < 1) die("sizes make no sense");
    float *x = get_floats((size_t)n * d), *w = get_floats((size_t)Q * d), *t = get_floats((size_t)rows * Q);
    int *row = alloc(n, sizeof *row);
    for (int i = 0; i < n; i++) row[i] = get();
    float *u = get_floats(n), *c = get_floats((size_t)n * R);
    float *scores = alloc((size_t)n * Q, 4), *a = alloc((size_t)n * Q, 4), m = 0;
    int64_t refused = 0, total = 0;

    for (size_t i = 0; i < (size_t)n * d; i++) m = fmaxf(m, fabsf(x[i]));
    for (int i = 0; i < n; i++) {
        float *s = scores + (size_t)i * Q;
        if (row[i] < 0 || row[i] >= rows) die("an example has a row of targets that is not there");
        for (int k = 0; k < Q; k++) s[k] = dot(x + (size_t)i * d, w + (size_t)k * d, d);
        float loss = residuals(s, t + (size_t)row[i] * Q, u[i], Q, given, a + (size_t)i * Q);
        if (isnan(loss)) refused++;
        else total += fixed(loss, format(0x1.fffffep14f, N));
    }
    put((uint64_t)refused, 8);
    put((uint64_t)total, 8);
    weighted_sums(x, a, n, d, Q, format(m, N));
    weighted_sums(x, c, n, d, R, format(m, N));
    for (size_t i = 0; i < (size_t)n * Q; i++) put(as_bits(scores[i]), 4);
    if (fflush(stdout) || ferror(stdout)) die("the answer cannot be written");
    return 0;
}
