// Reductions in the elements' own type: integers, bools and doubles. Included once per type with T, A (the type that
// adds and multiplies without undefined steps), S and, where there is such a thing, IS_NAN.

#ifndef IS_NAN
#define IS_NAN(x) false
#endif

#define R_NAME_(name, s) name##_##s
#define R_NAME__(name, s) R_NAME_(name, s)
#define R(name) R_NAME__(name, S)

/// `n` > 0 more elements into `*sum`, which starts as the identity. Eight chains: doubles cannot be reordered.
static void R(plain_row)(ck_reduce_op op, void *sum, const void *input, size_t n) {
    const T *a = input;
    T s = *(T *)sum;
    size_t i = 0;
    switch (op) {
        case CK_REDUCE_PRODUCT:
            for (; i < n; i++) s = (T)((A)s * (A)a[i]);
            break;
        case CK_REDUCE_MAX:
            for (; i < n; i++) s = a[i] > s || IS_NAN(a[i]) ? a[i] : s;
            break;
        case CK_REDUCE_MIN:
            for (; i < n; i++) s = a[i] < s || IS_NAN(a[i]) ? a[i] : s;
            break;
        case CK_REDUCE_ANY:
            for (; i < n; i++) s = s != 0 || a[i] != 0;
            break;
        case CK_REDUCE_ALL:
            for (; i < n; i++) s = s != 0 && a[i] != 0;
            break;
        default: {
            bool square = op == CK_REDUCE_SUM_SQUARES;
            A sums[8] = {0};
            for (; i + 8 <= n; i += 8) {
                for (size_t k = 0; k < 8; k++) sums[k] += square ? (A)a[i + k] * (A)a[i + k] : (A)a[i + k];
            }
            for (; i < n; i++) sums[0] += square ? (A)a[i] * (A)a[i] : (A)a[i];
            for (size_t width = 4; width > 0; width /= 2) {
                for (size_t k = 0; k < width; k++) sums[k] += sums[k + width];
            }
            s = (T)((A)s + sums[0]);
        }
    }
    *(T *)sum = s;
}

static void R(plain_column)(ck_reduce_op op, void *sums, const void *input, size_t n) {
    const T *a = input;
    T *s = sums;
    switch (op) {
        case CK_REDUCE_PRODUCT: CK_LOOP for (size_t i = 0; i < n; i++) s[i] = (T)((A)s[i] * (A)a[i]); break;
        case CK_REDUCE_MAX:
            CK_LOOP for (size_t i = 0; i < n; i++) s[i] = a[i] > s[i] || IS_NAN(a[i]) ? a[i] : s[i];
            break;
        case CK_REDUCE_MIN:
            CK_LOOP for (size_t i = 0; i < n; i++) s[i] = a[i] < s[i] || IS_NAN(a[i]) ? a[i] : s[i];
            break;
        case CK_REDUCE_ANY: CK_LOOP for (size_t i = 0; i < n; i++) s[i] = (T)((s[i] != 0) | (a[i] != 0)); break;
        case CK_REDUCE_ALL: CK_LOOP for (size_t i = 0; i < n; i++) s[i] = (T)((s[i] != 0) & (a[i] != 0)); break;
        case CK_REDUCE_SUM_SQUARES:
            CK_LOOP for (size_t i = 0; i < n; i++) s[i] = (T)((A)s[i] + (A)a[i] * (A)a[i]);
            break;
        default: CK_LOOP for (size_t i = 0; i < n; i++) s[i] = (T)((A)s[i] + (A)a[i]); break;
    }
}

static void R(plain_arg_column)(
    bool greatest, void *bests, uint32_t *index, const void *input, size_t n, uint32_t row) {
    const T *a = input;
    T *best = bests;
    CK_LOOP for (size_t i = 0; i < n; i++) {
        bool wins = greatest ? a[i] > best[i] : a[i] < best[i];
        index[i] = wins ? row : index[i];
        best[i] = wins ? a[i] : best[i];
    }
}

/// As float_arg_row; `*bests` is updated.
static void R(plain_arg_row)(bool greatest, void *bests, size_t *index, const void *input, size_t n) {
    const T *a = input;
    T best = *(T *)bests;
    for (size_t i = 0; i < n; i++) {
        bool wins = greatest ? a[i] > best : a[i] < best;
        if (wins) best = a[i], *index = i;
    }
    *(T *)bests = best;
}

#undef R
#undef R_NAME__
#undef R_NAME_
#undef T
#undef A
#undef S
#undef IS_NAN
