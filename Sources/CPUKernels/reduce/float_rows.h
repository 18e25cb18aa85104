// Reductions of runs of floats to one, and of rows into a row of accumulators.

// Eight accumulators hide the additions' latency and keep each one's chain of roundings short.
#define FLOAT_ROW(name, identity, step, join, finish)                     \
    static float name(const float *a, size_t n, float shift) {            \
        (void)shift;                                                      \
        vf sums[8];                                                       \
        for (int k = 0; k < 8; k++) sums[k] = v_set(identity);            \
        size_t i = 0;                                                     \
        for (; i + 8 * VL <= n; i += 8 * VL) {                            \
            for (int k = 0; k < 8; k++) {                                 \
                vf x = v_load(a + i + (size_t)k * VL), s = sums[k];       \
                sums[k] = step;                                           \
            }                                                             \
        }                                                                 \
        for (; i + VL <= n; i += VL) {                                    \
            vf x = v_load(a + i), s = sums[0];                            \
            sums[0] = step;                                               \
        }                                                                 \
        for (int width = 4; width > 0; width /= 2) {                      \
            for (int k = 0; k < width; k++) {                             \
                vf x = sums[k + width], s = sums[k];                      \
                sums[k] = join;                                           \
            }                                                             \
        }                                                                 \
        float lanes[VL], total;                                           \
        v_store(lanes, sums[0]);                                          \
        total = finish(lanes);                                            \
        for (; i < n; i++) {                                              \
            vf x = v_set(a[i]), s = v_set(total);                         \
            s = step;                                                     \
            total = s[0];                                                 \
        }                                                                 \
        return total;                                                     \
    }

CK_INLINE float lanes_sum(const float *lanes) { return v_sum(v_load(lanes)); }

CK_INLINE float lanes_product(const float *lanes) {
    float product = 1;
    for (int i = 0; i < VL; i++) product *= lanes[i];
    return product;
}

CK_INLINE float lanes_max(const float *lanes) { return v_greatest(v_load(lanes)); }

CK_INLINE float lanes_min(const float *lanes) { return -v_greatest(-v_load(lanes)); }

FLOAT_ROW(row_sum, 0, s + x, s + x, lanes_sum)
FLOAT_ROW(row_sum_squares, 0, v_fma(x - shift, x - shift, s), s + x, lanes_sum)
FLOAT_ROW(row_product, 1, s *x, s *x, lanes_product)
FLOAT_ROW(row_max, -__builtin_inff(), v_max(s, x), v_max(s, x), lanes_max)
FLOAT_ROW(row_min, __builtin_inff(), v_min(s, x), v_min(s, x), lanes_min)

/// The greatest of the elements that beat `bound`; NaN never does.
FLOAT_ROW(row_best_max, shift, v_select(x > s, x, s), v_select(x > s, x, s), lanes_max)
FLOAT_ROW(row_best_min, shift, v_select(x < s, x, s), v_select(x < s, x, s), lanes_min)

/// `shift` is what sum_squares subtracts from each element.
static float float_row(ck_reduce_op op, const float *a, size_t n, float shift) {
    switch (op) {
        case CK_REDUCE_PRODUCT: return row_product(a, n, 0);
        case CK_REDUCE_MAX: return row_max(a, n, 0);
        case CK_REDUCE_MIN: return row_min(a, n, 0);
        case CK_REDUCE_SUM_SQUARES: return row_sum_squares(a, n, shift);
        default: return row_sum(a, n, 0);
    }
}

/// The best element and its index: the first of equal ones. `*index` stays if none beats `best`.
static float float_arg_row(bool greatest, const float *a, size_t n, float best, size_t *index) {
    float found = greatest ? row_best_max(a, n, best) : row_best_min(a, n, best);
    if (found == best) return best;
    size_t i = 0;
    while (i + VL <= n && !v_any(v_load(a + i) == found)) i += VL;
    while (a[i] != found) i++;
    *index = i;
    return found;
}

static void float_column(ck_reduce_op op, float *sums, const float *a, size_t n) {
    switch (op) {
        case CK_REDUCE_PRODUCT: mul_f32(sums, sums, a, a, n); break;
        case CK_REDUCE_MAX: maximum_f32(sums, sums, a, a, n); break;
        case CK_REDUCE_MIN: minimum_f32(sums, sums, a, a, n); break;
        case CK_REDUCE_SUM_SQUARES: CK_LOOP for (size_t i = 0; i < n; i++) sums[i] += a[i] * a[i]; break;
        default: add_f32(sums, sums, a, a, n); break;
    }
}

static void float_arg_column(bool greatest, float *best, uint32_t *index, const float *a, size_t n, uint32_t row) {
    if (greatest) {
        CK_LOOP for (size_t i = 0; i < n; i++) {
            index[i] = a[i] > best[i] ? row : index[i];
            best[i] = a[i] > best[i] ? a[i] : best[i];
        }
    } else {
        CK_LOOP for (size_t i = 0; i < n; i++) {
            index[i] = a[i] < best[i] ? row : index[i];
            best[i] = a[i] < best[i] ? a[i] : best[i];
        }
    }
}
