// Rows of softmax and of normalization.

/// e^(x − greatest), where x = greatest gives 1 even if it is infinite.
CK_INLINE vf v_exp_below(vf x, vf greatest) { return v_select(x == greatest, v_set(1), v_exp(x - greatest)); }

/// Stores the exponentials and returns their sum, of at most a few thousand.
static float exp_row(float *d, const float *a, size_t n, float greatest) {
    vf sums[4] = {v_set(0), v_set(0), v_set(0), v_set(0)}, top = v_set(greatest);
    size_t i = 0;
    for (; i + VL <= n; i += VL) {
        vf e = v_exp_below(v_load(a + i), top);
        v_store(d + i, e);
        sums[i / VL % 4] += e;
    }
    float sum = v_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (i < n) {
        vf e = v_exp_below(v_load_part(a + i, n - i, greatest), top);
        v_store_part(d + i, e, n - i);
        for (size_t k = 0; k < n - i; k++) sum += e[k];
    }
    return sum;
}

/// One row of columns: the exponentials, and each added to its column's sum.
static void exp_columns(float *d, const float *a, const float *greatest, float *sums, size_t n) {
    size_t i = 0;
    for (; i + VL <= n; i += VL) {
        vf e = v_exp_below(v_load(a + i), v_load(greatest + i));
        v_store(d + i, e);
        v_store(sums + i, v_load(sums + i) + e);
    }
    if (i < n) {
        vf e = v_exp_below(v_load_part(a + i, n - i, 0), v_load_part(greatest + i, n - i, 0));
        v_store_part(d + i, e, n - i);
        v_store_part(sums + i, v_load_part(sums + i, n - i, 0) + e, n - i);
    }
}

static void scale_row(float *d, const float *a, size_t n, float factor) {
    CK_LOOP for (size_t i = 0; i < n; i++) d[i] = a[i] * factor;
}

/// (x − mean) · scale · weight + bias + offset, where a weight or bias of NULL is left out.
static void norm_row(
    float *d, const float *a, size_t n, float mean, float scale, float offset, const float *weight, const float *bias) {
    if (weight != NULL && bias != NULL) {
        CK_LOOP for (size_t i = 0; i < n; i++) d[i] = (a[i] - mean) * scale * weight[i] + bias[i];
    } else if (weight != NULL) {
        CK_LOOP for (size_t i = 0; i < n; i++) d[i] = (a[i] - mean) * scale * weight[i];
    } else if (bias != NULL) {
        CK_LOOP for (size_t i = 0; i < n; i++) d[i] = (a[i] - mean) * scale + bias[i];
    } else {
        CK_LOOP for (size_t i = 0; i < n; i++) d[i] = (a[i] - mean) * scale + offset;
    }
}
