/*
 * uma.c - a second, independent UMA trainer that a test compares with, bit for bit.
 *
 * Written from the text of the numerics contract alone (version 1; its clauses are cited below),
 * with Louche & Ralaivola, "Unconfused ultraconservative multiclass algorithms", Machine Learning
 * 99 (2015), Algorithm 2 and Section 3.5. It shares no code with the Go program. Meant to be read
 * beside the contract: every step recomputes everything from the examples; nothing is fast.
 * -ffp-contract=off below is a part of it: every product is rounded unless fmaf is called.
 *
 * Build:  cc -O2 -std=c99 -ffp-contract=off -o uma uma.c -lm
 * Usage:  uma TRAIN.csv first|last NORMALIZE C.csv|identity error|confusion ALPHA TOL MAX-STEPS
 *             last|average|best|best-average pair|region|all score|weights DOUBT
 *
 *   TRAIN.csv   no header, no quotes; the label is the first or the last field of each line
 *   NORMALIZE   comma list of standardize, maxabs, bias, l2; or none. The order is the contract's
 *   C.csv       Q lines of Q numbers, C[p][q] = P(noisy = p | true = q), in class order; or the
 *               same under the header  noisy\true,<class>,...  with a class name first in each line
 *
 * stdout: W, Q x d float32, row-major, little-endian (d counts the bias column).
 * stderr: one line, "steps T stop max-steps|converged error E", where E is the estimated clean
 *         error (clause 10) of the W that is written. Any failure: a message and exit status 1.
 */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "float and double arithmetic must be carried out in their own types"
#endif

typedef struct { int rows, cols; char **cell; } table; /* cell[row * cols + col] */

static int n, d, Q;      /* examples, features with the bias column, classes */
static float *X;         /* n x d, prepared */
static int *y;           /* n noisy labels */
static char **name;      /* Q class names in class order */
static double *Cinv;     /* Q x Q */
static int s;            /* fixed-point exponent, clause 3 */

static void die(const char *which, const char *what) {
    fprintf(stderr, "uma: %s: %s\n", which, what);
    exit(1);
}

static void *alloc(size_t count, size_t size) { /* zeroed */
    void *p = calloc(count, size);
    if (!p) die("allocation", "out of memory");
    return p;
}

/* ---- reading ---- */

static char *trim(char *a) {
    size_t len = strlen(a);
    while (len > 0 && isspace((unsigned char)a[len - 1])) a[--len] = 0;
    while (isspace((unsigned char)*a)) a++;
    return a;
}

static table read_table(const char *path, char **text) {
    table t = {0, 0, NULL};
    size_t fields = 1;
    long len = -1;
    FILE *f = fopen(path, "rb");
    if (!f) die(path, strerror(errno));
    if (fseek(f, 0, SEEK_END) || (len = ftell(f)) < 0 || len >= INT_MAX) die(path, "not a plain file of this size");
    rewind(f);
    *text = alloc(len + 1, 1);
    if (fread(*text, 1, len, f) != (size_t)len) die(path, "cannot be read");
    fclose(f);
    if (strlen(*text) != (size_t)len || strchr(*text, '"')) die(path, "has a zero byte or a quote");
    for (char *a = *text; *a; a++) fields += *a == ',' || *a == '\n';
    t.cell = alloc(fields, sizeof *t.cell);
    fields = 0;
    for (char *line = *text, *next; line; line = next) {
        int cols = 0;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line = trim(line);
        if (!*line) continue; /* blank */
        for (char *field = line, *comma; field; field = comma, cols++) {
            comma = strchr(field, ',');
            if (comma) *comma++ = 0;
            t.cell[fields++] = trim(field);
        }
        if (t.rows++ > 0 && cols != t.cols) die(path, "lines differ in their number of fields");
        t.cols = cols;
    }
    if (t.rows == 0) die(path, "is empty");
    return t;
}

static double parse_double(const char *a) {
    char *end;
    double v = strtod(a, &end);
    if (end == a || *end || !isfinite(v)) die(a, "is not a finite number");
    return v;
}

static float parse_float(const char *a) { /* the float32 nearest to the text; a subnormal is +0 */
    char *end;
    float v = strtof(a, &end);
    if (end == a || *end || !isfinite(v)) die(a, "is not a finite float32");
    return v != 0 && fabsf(v) < FLT_MIN ? 0.0f : v;
}

static int is_integer(const char *a) {
    a += *a == '-' || *a == '+';
    return *a && strspn(a, "0123456789") == strlen(a);
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int by_number(const void *a, const void *b) {
    long long u = strtoll(*(char *const *)a, NULL, 10), v = strtoll(*(char *const *)b, NULL, 10);
    return u != v ? (u > v) - (u < v) : by_bytes(a, b);
}

/* ---- clause 2: preparation ---- */

static void load(const char *path, int label_first, int standardize, int maxabs, int bias, int l2) {
    static char *text; /* kept: the class names point into it */
    table t = read_table(path, &text);
    int features = t.cols - 1, label = label_first ? 0 : features, integers = 1;
    n = t.rows;
    d = features + bias;
    if (features < 1) die(path, "needs a label and a feature in each line");
    X = alloc((size_t)n * d, sizeof *X);
    y = alloc(n, sizeof *y);
    name = alloc(n, sizeof *name);

    for (int i = 0; i < n; i++) {
        char **row = t.cell + (size_t)i * t.cols;
        int k = 0;
        for (int j = 0; j < features; j++) X[(size_t)i * d + j] = parse_float(row[j + label_first]);
        while (k < Q && strcmp(name[k], row[label])) k++;
        if (k == Q) name[Q++] = row[label];
        if (!*row[label]) die(path, "has an empty label");
        integers = integers && is_integer(row[label]);
    }
    qsort(name, Q, sizeof *name, integers ? by_number : by_bytes);
    for (int i = 0; i < n; i++)
        while (strcmp(name[y[i]], t.cell[(size_t)i * t.cols + label])) y[i]++;
    free(t.cell);

    for (int j = 0; j < features && (standardize || maxabs); j++) {
        float a, b = 0;
        if (standardize) {
            double sum = 0, squares = 0;
            for (int i = 0; i < n; i++) sum += X[(size_t)i * d + j];
            const double mean = sum / n;
            for (int i = 0; i < n; i++) {
                double diff = X[(size_t)i * d + j] - mean;
                squares += diff * diff;
            }
            const double sd = squares / n == 0 ? 1 : sqrt(squares / n);
            a = (float)(1 / sd);
            b = (float)(-mean / sd);
        } else {
            double top = 0;
            for (int i = 0; i < n; i++) top = fmax(top, fabs(X[(size_t)i * d + j]));
            a = top == 0 ? 1 : (float)(1 / top);
        }
        for (int i = 0; i < n; i++) X[(size_t)i * d + j] = fmaf(X[(size_t)i * d + j], a, b);
    }
    for (int i = 0; i < n && bias; i++) X[(size_t)i * d + features] = 1;
    for (int i = 0; i < n && l2; i++) {
        double sum = 0;
        float *x = X + (size_t)i * d, r;
        for (int j = 0; j < d; j++) sum += (double)x[j] * x[j];
        r = sum == 0 ? 1 : (float)(1 / sqrt(sum));
        for (int j = 0; j < d; j++) x[j] *= r;
    }
}

/* ---- clause 3: fixed point ---- */

static void choose_scale(void) {
    float m = 0;
    int B = 0, E;
    for (size_t i = 0; i < (size_t)n * d; i++) {
        if (!isfinite(X[i])) die("preparation", "a prepared value is not finite");
        m = fmaxf(m, fabsf(X[i]));
    }
    frexp(m, &E); /* E = 0 for m = 0 */
    while (n >> B) B++;
    s = 62 - B - E;
    s = s < -126 ? -126 : s > 126 ? 126 : s;
}

static int64_t fixed(float x) { return (int64_t)rint(ldexp(x, s)); }

/* ---- clause 6: the inverse, Gauss-Jordan on [C | I] ---- */

static void read_inverse(const char *path) {
    int w = 2 * Q;
    double *M = alloc((size_t)Q * w, sizeof *M);
    for (int i = 0; i < Q; i++) M[i * w + i] = M[i * w + Q + i] = 1;
    if (strcmp(path, "identity")) {
        char *text;
        table t = read_table(path, &text);
        int named = !strcmp(t.cell[0], "noisy\\true");
        if (t.rows != Q + named || t.cols != Q + named) die(path, "its size is not that of the classes");
        for (int k = 0; k < Q && named; k++)
            if (strcmp(t.cell[k + 1], name[k]) || strcmp(t.cell[(k + 1) * t.cols], name[k]))
                die(path, "its names are not those of the classes in their order");
        for (int p = 0; p < Q; p++)
            for (int q = 0; q < Q; q++) M[p * w + q] = parse_double(t.cell[(p + named) * t.cols + q + named]);
        free(t.cell);
        free(text);
    }
    for (int c = 0; c < Q; c++) {
        int top = c;
        for (int r = c + 1; r < Q; r++) if (fabs(M[r * w + c]) > fabs(M[top * w + c])) top = r;
        for (int j = 0; j < w; j++) {
            double swap = M[c * w + j];
            M[c * w + j] = M[top * w + j];
            M[top * w + j] = swap;
        }
        const double pivot = M[c * w + c];
        if (pivot == 0) die(path, "has no inverse");
        for (int j = 0; j < w; j++) M[c * w + j] /= pivot;
        for (int r = 0; r < Q; r++) {
            double f = M[r * w + c];
            for (int j = 0; j < w && r != c && f != 0; j++) M[r * w + j] -= f * M[c * w + j];
        }
    }
    Cinv = alloc((size_t)Q * Q, sizeof *Cinv);
    for (int p = 0; p < Q; p++) for (int q = 0; q < Q; q++) Cinv[p * Q + q] = M[p * w + Q + q];
    free(M);
}

/* ---- clauses 1, 4 and 10: scores, regions, estimated error ---- */

static float dot(const float *x, const float *w) {
    float sum = 0;
    for (int from = 0; from < d; from += 256) {
        float acc = 0;
        for (int j = from; j < d && j < from + 256; j++) acc = fmaf(x[j], w[j], acc);
        sum += acc;
    }
    return sum;
}

/* region[i] = the region of example i under alpha, -1 for none. Returns the estimated clean error
 * of W, which counts predictions whatever alpha is. */
static double assign(const float *W, float alpha, int *region) {
    int *N = alloc((size_t)Q * Q, sizeof *N);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        float best = -INFINITY, second = -INFINITY;
        int arg = 0;
        for (int r = 0; r < Q; r++) {
            float score = dot(X + (size_t)i * d, W + (size_t)r * d);
            if (score > best) { second = best; best = score; arg = r; }
            else if (score > second) second = score;
        }
        const float margin = best - second;
        region[i] = margin >= alpha ? arg : -1;
        N[arg * Q + y[i]]++;
    }
    for (int c = 0; c < Q * Q; c++) sum += (double)N[c] / n * Cinv[c]; /* p then k */
    free(N);
    return 1 - sum;
}

/* ---- clauses 5 to 8: class sums, update vectors, choice ---- */

static double share(int q) { /* estimated share of true class q */
    double sum = 0;
    for (int k = 0; k < Q; k++) {
        double count = 0;
        for (int i = 0; i < n; i++) count += y[i] == k;
        sum += Cinv[q * Q + k] * count;
    }
    return fmax(sum / n, 1.0 / n);
}

/* What a step corrects, and what alpha counts in: clauses 17 and 18. */
enum { PAIR, REGION, ALL };
enum { SCORE, WEIGHTS };

static double row_length(const float *W) {
    double sum = 0;
    for (size_t i = 0; i < (size_t)Q * d; i++) sum += (double)W[i] * W[i];
    return sqrt(sum / Q);
}

/* The square up to which wrong labels may have made z_pq, given the sizes of p's cells; M is the
 * mean square of the examples, divided by n. */
static double doubted(double doubt, double M, const int *cell, int q) {
    double sum = 0;
    for (int k = 0; k < Q; k++) {
        const double b = Cinv[q * Q + k];
        sum += cell[k] * (b * b - b) / n;
    }
    return doubt * doubt * sum * M;
}

static double mean_square(void) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < d; j++) row += (double)X[(size_t)i * d + j] * X[(size_t)i * d + j];
        sum += row;
    }
    return sum / n / n;
}

static int without_noise(void) {
    for (int c = 0; c < Q * Q; c++)
        if (Cinv[c] * Cinv[c] - Cinv[c] != 0) return 0;
    return 1;
}

/* Makes a step of W; 0 if there is nothing to correct. alpha is 0 while W = 0. */
static int make_step(float *W, double alpha, int unit, double length, double tol, double doubt, double M,
                     int confusion, int what, const int *region) {
    int64_t *G = alloc((size_t)Q * Q * d, sizeof *G); /* class sums [p][k][j] */
    float *Z = alloc((size_t)Q * Q * d, sizeof *Z);   /* update vectors [p][q][j] */
    double *value = alloc((size_t)Q * Q, sizeof *value);
    int *allowed = alloc((size_t)Q * Q, sizeof *allowed), *size = alloc(Q, sizeof *size), found = 0;
    int *cell = alloc((size_t)Q * Q, sizeof *cell), *passes = alloc((size_t)Q * Q, sizeof *passes);
    float u = (float)(ldexp(1, -s) / n);

    for (int i = 0; i < n; i++) {
        if (region[i] < 0) continue;
        size[region[i]]++;
        cell[region[i] * Q + y[i]]++;
        for (int j = 0; j < d; j++)
            G[((size_t)region[i] * Q + y[i]) * d + j] += fixed(X[(size_t)i * d + j]);
    }
    for (int q = 0; q < Q; q++) {
        double pi = confusion ? share(q) : 1;
        for (int p = 0; p < Q; p++) {
            float *z = Z + ((size_t)p * Q + q) * d;
            for (int j = 0; j < d; j++) {
                float acc = 0;
                for (int k = 0; k < Q; k++)
                    acc = fmaf((float)Cinv[q * Q + k], (float)G[((size_t)p * Q + k) * d + j], acc);
                z[j] = acc * u;
            }
            const double norm2 = dot(z, z);
            allowed[p * Q + q] = p != q && size[p] > 0 && norm2 > tol * tol &&
                                 (doubt == 0 || norm2 > doubted(doubt, M, cell + p * Q, q));
            const float margin = unit == WEIGHTS ? (float)(alpha * length * sqrt(norm2)) : (float)alpha;
            passes[p * Q + q] = /* p in E */
                dot(z, W + (size_t)p * d) - dot(z, W + (size_t)q * d) >= margin;
            value[p * Q + q] = confusion ? norm2 / (pi * pi) : norm2;
        }
    }
    int top = -1;
    for (int c = 0; c < Q * Q; c++) /* p then q: the first of equals stays */
        if (allowed[c] && passes[c] && (top < 0 || value[c] > value[top])) top = c;
    for (int c = 0; c < Q * Q; c++) {
        const int p = c / Q, q = c % Q;
        if (!allowed[c] || !passes[c]) continue;
        if ((what == PAIR && c != top) || (what == REGION && p != top / Q)) continue;
        found = 1;
        for (int j = 0; j < d; j++) {
            const float z = Z[(size_t)c * d + j];
            W[(size_t)q * d + j] = fmaf(1, z, W[(size_t)q * d + j]);
            W[(size_t)p * d + j] = fmaf(-1, z, W[(size_t)p * d + j]);
        }
    }
    free(G); free(Z); free(value); free(allowed); free(size); free(cell); free(passes);
    return found;
}

/* ---- the run, clauses 9 and 10 ---- */

#define WORD(a, ...) word(a, (const char *const[]){__VA_ARGS__, NULL})
static int word(const char *a, const char *const *words) { /* index of a in words */
    int i = 0;
    while (words[i] && strcmp(a, words[i])) i++;
    if (!words[i]) die(a, "is not a word known here");
    return i;
}

int main(int argc, char **argv) {
    static float *W, *best, *mean;
    static double *sum;
    static int *region;
    int use[5] = {0}, label_first, confusion, weights, what, unit;
    double error, M, best_error = INFINITY;
    const char *reason;
    long t = 0;

    if (argc != 13) die("usage", "uma TRAIN.csv first|last NORMALIZE C.csv|identity error|confusion"
                                 " ALPHA TOL MAX-STEPS last|average|best|best-average"
                                 " pair|region|all score|weights DOUBT");
    label_first = WORD(argv[2], "last", "first");
    for (char *a = strtok(argv[3], ","); a; a = strtok(NULL, ","))
        use[WORD(a, "standardize", "maxabs", "bias", "l2", "none")] = 1;
    if (use[0] && use[1]) die("normalize", "standardize and maxabs exclude each other");
    confusion = WORD(argv[5], "error", "confusion");
    const float alpha = parse_float(argv[6]);
    const double tol = parse_double(argv[7]);
    if (alpha < 0 || tol < 0) die("alpha, tol", "must not be negative");
    errno = 0;
    const long max_steps = strtol(argv[8], NULL, 10);
    if (!is_integer(argv[8]) || errno || max_steps < 0) die(argv[8], "is not a number of steps");
    weights = WORD(argv[9], "last", "average", "best", "best-average");
    what = WORD(argv[10], "pair", "region", "all");
    unit = WORD(argv[11], "score", "weights");
    double doubt = parse_double(argv[12]);

    load(argv[1], label_first, use[0], use[1], use[2], use[3]);
    choose_scale();
    read_inverse(argv[4]);
    const size_t size = (size_t)Q * d;
    W = alloc(size, sizeof *W);
    best = alloc(size, sizeof *best);
    sum = alloc(size, sizeof *sum);
    mean = alloc(size, sizeof *mean);
    M = mean_square();
    if (without_noise()) doubt = 0;
    region = alloc(n, sizeof *region);

    for (;; t++) {
        const float a = t == 0 ? 0 : alpha; /* while W = 0, alpha counts as 0 */
        const double length = row_length(W);
        long digits = t;
        while (digits > 15 && digits % 2 == 0) digits /= 2;
        if (weights == 3 && t > 0 && digits <= 15) { /* clause 19: an average to choose */
            for (size_t i = 0; i < size; i++) mean[i] = (float)(sum[i] / t);
            error = assign(mean, 0, region);
            if (error < best_error) memcpy(best, mean, size * sizeof *W);
            best_error = fmin(best_error, error);
        }
        error = assign(W, unit == WEIGHTS ? (float)(a * length) : a, region);
        if (weights != 3 || t == 0) {
            if (error < best_error) memcpy(best, W, size * sizeof *W);
            best_error = fmin(best_error, error);
        }
        if (t == max_steps) { reason = "max-steps"; break; }
        if (!make_step(W, a, unit, length, tol, doubt, M, confusion, what, region)) {
            reason = "converged";
            if (weights == 3 && error < best_error) memcpy(best, W, size * sizeof *W);
            break;
        }
        for (size_t i = 0; i < size; i++) sum[i] += W[i];
    }
    for (size_t i = 0; i < size && t > 0 && weights == 1; i++) W[i] = (float)(sum[i] / t);
    if (weights >= 2) memcpy(W, best, size * sizeof *W);
    error = assign(W, 0, region);

    for (size_t i = 0; i < size; i++) {
        uint32_t bits;
        memcpy(&bits, &W[i], sizeof bits);
        for (int b = 0; b < 32; b += 8) putchar(bits >> b & 255);
    }
    if (fflush(stdout) || ferror(stdout)) die("stdout", "cannot be written");
    fprintf(stderr, "steps %ld stop %s error %.17g\n", t, reason, error);
    return 0;
}
