// Package contract is the numerics contract: the text that fixes every bit of what engines
// return, whatever the device, the work-group, the tile and the number of machines. Package
// numerics has its arithmetic in Go, package cpuref the loops that define each result, and
// package enginetest judges engines by it. Clauses are only added, or get a new version.
//
// # The numerics contract, version 1
//
// All values are float32 unless stated. fma is the correctly rounded float32
// fused multiply-add. No relaxed-mathematics build option, no float atomics, no
// built-in exp, pow, division or sqrt in a kernel.
//
//  1. Dot product ⟨x,w⟩: columns are cut in chunks of 256. In a chunk
//     acc = fma(x_j, w_j, acc) from +0 in increasing j. Chunk results are added
//     in increasing order, starting from +0. A sparse row visits only its stored
//     columns, in increasing order under the same chunk rule, and so gives the
//     bits of the dense row.
//  2. Preparation: v is the float32 nearest to the decimal that was read; column
//     map v = fma(v, a_j, b_j); bias column (last) of value 1; row scale
//     x' = v·r_i with r_i = float32(1/sqrt(Σ v²)), the sum in float64 in
//     increasing j over the whole row, bias included, r_i = 1 for a zero row.
//     standardize: a_j = float32(1/sd_j), b_j = float32(-mean_j/sd_j), mean and
//     variance (divided by n) in float64 by two passes in file order, each square
//     rounded before it is added, sd = 1 where it is 0. maxabs:
//     a_j = float32(1/max|x_j|), 1 where that maximum is 0, b_j = 0. A step that
//     is not asked for is skipped. NaN and ±Inf are refused; subnormal inputs
//     become zero. Classes are ordered by number when all names are integers,
//     else bytewise.
//  3. Fixed point: m = max|x_ij| over all prepared training examples, m = f·2^E
//     with f in [0.5,1) (m = 0: E = 0), B = bit length of n, s = 62 - B - E
//     clamped to [-126,126]. The integer of x is q(x) = int64(rint(x·2^s)), ties
//     to even.
//  4. Region: scanning classes upwards, the prediction is the lowest class index
//     that attains the maximal score (a NaN never does; if none does, class 0);
//     margin = its score minus the best other score (-Inf if there is none). An
//     example is in region p iff it is predicted p and margin ≥ α. While W = 0,
//     that is before the first update, α counts as 0, here and in clause 8.
//  5. Class sums Γ[p][k] = Σ q(x_i) over cell (p,k), in int64, and counts
//     N[p][k]. Exact, so free of order.
//  6. Update vector: g_k = float32(Γ[p][k][j]) (nearest, ties to even), acc = +0,
//     for k increasing acc = fma(B[q][k], g_k, acc), with B = float32(C⁻¹);
//     z_pq[j] = acc·u, u = float32(2^-s / n). ‖z_pq‖² by clause 1. C⁻¹ is
//     computed in float64 by the elimination that numerics.Inverse fixes.
//  7. Choice of (p,q): p ≠ q, region p not empty, ‖z‖² > tol² (in float64).
//     error: largest ‖z‖². confusion: largest ‖z‖²/(π̂_q·π̂_q), π̂ = C⁻¹ŷ/n in
//     float64 (k increasing, product rounded before it is added), floored at
//     1/n. random: uniform among the allowed pairs in order of p, then q, with
//     math/rand/v2's PCG. Ties: lowest p, then lowest q. In that order (random:
//     drawn again without the refused) the first pair that passes clause 8 is
//     used; if none does, training has converged.
//  8. Error set: v_r = ⟨z, w_r⟩; E = {r ≠ q : v_r - v_q ≥ α}. Perceptron step:
//     needs p in E; τ_q = 1, τ_p = -1. Other ultraconservative steps: τ_q = 1,
//     Στ = 0, τ_r ≤ 0 on E and 0 elsewhere.
//  9. Update w_r = fma(τ_r, z, w_r). Scores of the classes whose weights changed,
//     and only those, are computed afresh by clause 1.
//  10. Estimated clean error 1 - Σ_p Σ_k (N[p][k]/n)·C⁻¹[p][k] in float64, p then
//     k, product rounded before adding, from the counts with α = 0 of each
//     assignment of W_0 … W_T. average: Σ of W after each step in float64,
//     divided by the number of steps, rounded to float32 (W_0 after no step);
//     best: the W of least estimated error, the earliest on a tie.
//  11. exp(x), at most 1 ulp from the true value: 0 for x < -0x1.5d589ep6 (results
//     would be subnormal), +Inf for x > 0x1.62e42ep6, NaN for NaN. Else
//     t = fma(x, 0x1.715476p0, 0x1.8p23); k = t - 0x1.8p23;
//     r = fma(-k, 0x1.62e4p-1, x); r = fma(-k, 0x1.7f7d1cp-20, r); p = 0x1.6a23dp-10;
//     p = fma(p, r, c) for c = 0x1.123a2p-7, 0x1.5558f2p-5, 0x1.555492p-3,
//     0x1.fffffcp-2, 1, 1; the result has the bits of p plus 2^23 times those of t,
//     in integers modulo 2^32: the last bits of t are k, which so joins p's exponent.
//  12. A device that fails SelfTest when it is opened is refused.
//  13. Projection. Kernel values, with ⟨x,y⟩, xx = ⟨x,x⟩ and yy = ⟨y,y⟩ by clause 1, y
//     a landmark: linear ⟨x,y⟩; poly b = fma(γ, ⟨x,y⟩, c), the result starts as b and
//     is multiplied by b degree-1 times; rbf t = fma(-2, ⟨x,y⟩, xx + yy), +0 in its
//     place if t < 0 (NaN stays), exp(-(γ·t)). Number t of x is ⟨κ, a_t⟩ by clause 1,
//     κ the m kernel values in the order of the landmarks as x and the axis a_t as w,
//     plus o_t in one addition, which is left out if there is no offset.
//  14. Weighted sums. Coefficients a[i][r] of at most 1 in size (1 + 2^-20, as
//     rounding leaves them), |x| at most 2^118. The examples of the whole set are cut by index in
//     blocks of 256. In a block acc = fma(a[i][r], x_ij, acc) from +0 in increasing
//     i; S[r][j] = Σ q(acc) over the blocks, q as in clause 3, in int64. Zeros among
//     the a and x may be left out. A set that is cut in parts is cut between blocks.
//  15. log(x) of a normal x > 0, at most 1 ulp from the true value: u = bits of x -
//     0x3f3504f3 modulo 2^32, k = float32 of int32(u)/2^23 rounded down; f = the float32
//     with the bits (u mod 2^23) + 0x3f3504f3, minus 1; p = -0x1.38c08ep-4;
//     p = fma(p, f, c) for c = 0x1.055ba6p-3, -0x1.0d8304p-3, 0x1.22d9e4p-3,
//     -0x1.547282p-3, 0x1.99a00ep-3, -0x1.000226p-2, 0x1.555554p-2, -0.5;
//     the result is fma(k, 0x1.62e4p-1, f + fma(f·f, p, k·0x1.7f7d1cp-20)).
//     1/x of an x in [1,2^100]: y has the bits 0x7ef311c7 minus those of x; four
//     times y = fma(y, fma(-x, y, 1), y). Softmax of Q scores s: m = max s_k,
//     d_k = s_k - m, e_k = exp(d_k), S = Σ e_k from +0 in increasing k,
//     p_k = e_k·(1/S), L = log(S).
//  16. Residuals and loss of an example of scores s, weight u and target row t, with
//     p, m, d, L by clause 15. Posterior: t holds logarithms, -Inf for the weight 0;
//     v_k = s_k + t_k has p', m', L'; residual p_k - p'_k, loss (m - m') + (L - L').
//     Given: residual p_k - t_k, loss acc = L, acc = fma(-t_k, d_k, acc) in
//     increasing k. Both are multiplied by u; the residuals are the coefficients of
//     clause 14. If a score is not finite, m' is not, or the loss so weighted is NaN
//     or not below 2^15 in size, the example is refused: counted, and its residuals
//     and loss are 0. Losses are summed as integers q(loss) in int64 by the format of
//     clause 3 for the largest float32 below 2^15.
//  17. Steps. pair: clauses 7 to 9. region: p is that of the pair that clause 7 uses;
//     every z_pq of this p that clause 7 allows and that passes clause 8 is used. all:
//     every z_pq that clause 7 allows and that passes clause 8 is used; if none does,
//     training has converged. Each is judged by W as it was before the step; then clause
//     9 is carried out for each in order of p, then q.
//  18. In units of the weights α stands for float32(α·L) in clause 4 and for
//     float32((α·L)·sqrt(‖z_pq‖²)) in clause 8, in float64 with L = sqrt(Σ w²/Q), added
//     in the order of W. Doubt δ > 0: unless all entries b of C⁻¹ have b·b - b = 0, clause
//     7 allows only pairs that also have ‖z_pq‖² > ((δ·δ)·Σ_k (N[p][k]·(b·b - b))/n)·M,
//     b = C⁻¹[q][k], M = ((Σ x²)/n)/n over all examples, in float64: k and the columns of
//     an example increasing, then the examples' sums in their order, each operation rounded.
//  19. best-average: of W_0, of the averages (clause 10) after t steps for each
//     t = a·2^b ≤ T with a in 1..15 and, if training has converged, of W_T, the one of
//     least estimated error (clause 10), the earliest in this order on a tie.
//  20. One example after another. A pass takes the examples in their order or shuffled:
//     math/rand/v2's Shuffle of 0 … n-1 by a PCG of the seed and 0x6f6e6c696e65, which goes on
//     from pass to pass and makes all other random choices. Scores s_r and ‖x‖² are those of
//     clause 1; τ is computed from these in float64, each operation rounded, and rounded to
//     float32; if one is not finite the example is left alone. Then w_r = fma(τ_r, x, w_r)
//     for all r, where -0 becomes +0, as in W_0. The average over the T examples seen so far,
//     of W after each, is float32(w - l/T), l in float64 from +0: for each of these updates in
//     their order l_r = l_r + (t·τ_r)·x, t the examples seen before it, each operation rounded.
//     A pass without an update is not made: training has converged.
//  21. Flipped labels. For each class r, m = σ·‖w_r‖·‖x‖ in float64 (σ = 0: bylander), an
//     example of label k and score s_r has the coefficient B[r][k]/M if s_r ≤ -m, plus
//     (B[r][k]-1)/M if s_r ≥ m, B = float32(C⁻¹), M = max(1, |B| + |1-B|) over all B, each
//     rounded to float32; z_r = float32(S[r])·u of clauses 14 and 6. If ⟨w_r,z_r⟩ > 0 or z_r = 0
//     class r is left alone; if all are, training has converged. bylander: w_r = w_r + z_r.
//     blum, lengths by sums of squares in float64 in the order of the columns: z_r is divided
//     by its length, w_r = fma(-⟨w_r,z_r⟩, z_r, w_r), which is divided by its own (z_r in its
//     place if that is 0); a w_r of 0 begins as Float32() - 1/2 of a PCG of the seed and
//     0x626c756d·2^16 + r, divided by its length.
//  22. Corrected steps. With --correction steps and a C that is not the identity the τ_r of clause
//     20 for an example of label k is float32(Σ_t b_t·τ_r(t)), from +0 in increasing t, each
//     product and sum rounded in float64: τ(t) is what clause 20 has for label t, b_t = B[t][k] of
//     clause 21; a t of b_t = 0 is passed over. pa, pa2 and copa: if m = max_r |τ_r(t)|·‖x‖² is
//     above 0.1, b_t is multiplied by 0.1/m. Class weights are
//     n/(Q·max(1,n_t)), n_t = Σ_k B[t][k]·n_k, summed alike.
//  23. Origins. Let lo and hi be the least and the largest float64 of a column of numbers in the
//     training data, w = hi - lo. If max(|lo|,|hi|) > 16·w, w ≥ 2^-126 and not all values are
//     float32, its origin is o = u·floor((lo + w/2)/u), u = max(p/4, min(p, 1)), p the largest
//     power of two of at most w; else o = 0. In place of the v of clause 2 stands float32(x - o),
//     x the float64 nearest to the decimal and the difference in float64. Sparse data have none.
//  24. Gradients of trees: from the scores of an example, for each class, the residual r of clause
//     16, multiplied by the weight u, p of clause 15 and h = (p·(1 - p))·u, each operation
//     rounded; kept as the integers rint(r·2^18) and rint(h·2^18), ties to even, both 0 for an
//     example that clause 16 refuses.
//  25. Histograms. For each bin of a feature the sums of m·g and m·h of clause 24 over the
//     examples of a node in this bin, or of m at the example's label, m = 0 … 255 how often it
//     counts, in int64. A split sends examples whose bin is in a set to one child, others to the
//     other.
//  26. Scores of trees start as +0. Each tree adds to a score the value of the leaf that the
//     example reaches, in the order of the trees, each sum rounded.
//  27. Columns in bins. A number v is in bin 1 + the number of cuts of at most v; a missing value
//     (NaN, or its indicator is 1) is in bin 0. v_1 < v_2 < … are the distinct numbers of the
//     training data (-0 is 0), n_k the examples that have v_k. A cut between v_k and v_(k+1) is
//     float32((v_k + v_(k+1))/2), computed in float64, or v_(k+1) if that is not above v_k. Of at
//     most 255 numbers there is a cut between all; else, in increasing k and while L > 1, if (2h
//     + n_(k+1))·L > 2R, R the examples above the last cut, h those of them up to v_k and L = 255
//     less the cuts so far. Levels that have examples are bins from 1 on in their order, of more
//     than 254 the most frequent, of equals the first; all others are in bin 0.
//  28. Draws of trees: r(s,t,i) = m(m(m(seed + s·γ) + t·γ) + i·γ) modulo 2^64, γ =
//     0x9e3779b97f4a7c15, m(z): z = (z ^ z>>30)·0xbf58476d1ce4e5b9, z = (z ^
//     z>>27)·0x94d049bb133111eb, z ^ z>>31. Trees t count from 0. Boosting has example i in the
//     bag, once, if r(1,t,i)>>32 < ⌈2^32·rows⌉; a forest has it for each k = 0 … 7 with
//     r(1,t,i)>>32 ≥ rint(2^32·Σ_(j≤k) 1/(e·j!)) once, but not if r modulo 2^32 ≥ u·2^32, u its
//     weight. The label of probabilities f is the first k with f_k > 0 and Σ_(j≤k) f_j >
//     (r(3,t,i)>>11)·2^-53·Σ f. Features: of the list 0 … F-1 place k = 0, 1, … is swapped with k
//     + ⌊(F-k)·r(2,t,e·F+k)/2^64⌋; the first max(1, round(columns·F)) are tried. Boosting draws
//     for a tree, e = 0; a forest for each node, e = 0 for the root and 2c+1, 2c+2 for the
//     children of split c = 0, 1, …, and as long as no feature has a split the next ones of the
//     list.
//  29. Splits. The score S of a part is G²/(H+λ), G and H the sums of clause 25 times 2^-18;
//     in a forest Σ_k n_k²/n. The gain is S(left) + S(right) - S(all), each operation rounded
//     in float64 in this order. For each feature in increasing order, bins 1 … b go left for
//     b = 1, 2, …, and then the same with bin 0, unless that is empty: the greatest gain
//     wins, on a tie the first. An empty bin 0 goes left if 2·H(left) > H(all), n in a
//     forest. The bins of a category that have examples, bin 0 too, are sorted by G/(H+10), a
//     forest's by the share of the node's most frequent label, on a tie by bin, and so cut,
//     with λ+10 for λ; the others go as an empty bin 0, and of L > 6 such bins the gain is
//     lowered by (L-6)·v, v = 0.64, in a forest 2·(1 - S(all)/n); it must stay above 0. Parts
//     must have H ≥ max(least, 2^-18), a forest n ≥ max(least, 1), the gain before must be
//     above 1e-9·S(all). The leaf of the greatest gain is split next, on a tie the lowest;
//     its left child keeps its number, the right one has the next.
//  30. Values of trees. Boosting adds float32(-(rate·G)/(H+λ)) of a leaf, of two classes for class
//     1 alone, of more a tree for each class in a round, by gradients from before the round. A
//     forest adds float32(n_k/n); shares s_k are sums over trees divided by their sum in float64.
//     Shares of true classes: p_t = 1/Q, then 50 times p_t = p_t·Σ_k (s_k/Σ_t
//     C[k][t]·p_t)·C[k][t], divided by their sum, sums from +0 in increasing order; scores are
//     log(max(float32(p_t), 2^-20)). Sums begin for a forest with float32 of the shares of
//     labels, at least 2^-20; for boosting with log(float32(π_t)), of two classes 0 and the
//     difference, π from 50 iterations of π_t = max(1/n, (Σ_i (u_i·(e_it·π_t))/Σ_t e_it·π_t)/Σ_i
//     u_i) from 1/Q: i are the rows of clause 16's targets, e their exp, u_i the sum of the
//     weights of their examples; given targets stand in place of e·π.
//  31. Mixtures. p = Σ_k float32(w_k)·p_k from +0 in the order of the members, w_k their shares and
//     p_k their probabilities, each operation rounded; scores are log(max(p, 2^-100)).
package contract

// Version is the version of the contract: of all that its clauses say since they were
// added. Models of the same version, data and parameters are equal.
const Version = 1
