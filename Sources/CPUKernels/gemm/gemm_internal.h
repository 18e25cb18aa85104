// What the parts of the matrix product share. Packed A: panels of at most `mr` rows, each k × rows; their heights
// differ by one at most, and the panel that starts at row r begins at element r * k. Packed B: panels of `nr` columns,
// each k × nr, the last one filled up with zeros.
#pragma once

#include "gemm.h"

enum { CK_MAX_MR = 14 };

typedef struct {
    /// Multiplies `k` steps of a panel of A and one of B into C's tile of `columns`; `add` keeps what C holds.
    void (*micro[3][2][CK_MAX_MR])(
        size_t k, const float *a, const void *b, float *c, ptrdiff_t ldc, size_t columns, bool add);
    void (*pack_a)(
        ck_type type, const void *a, ptrdiff_t row, ptrdiff_t column, size_t rows, size_t k, float *panel);
    void (*pack_b)(
        ck_type type, const void *b, ptrdiff_t row, ptrdiff_t column, size_t k, size_t columns, float *panel);
    void (*pack_b16)(
        const uint16_t *b, ptrdiff_t row, ptrdiff_t column, size_t k, size_t columns, uint16_t *panel);
    /// At most four rows of A by a B that is not packed.
    void (*thin)(size_t m, size_t k, size_t columns, const float *a, ptrdiff_t lda, ck_type type, const void *b,
        ptrdiff_t row, ptrdiff_t column, float *c, ptrdiff_t ldc);
    /// The epilogue over one tile whose first element is C's (row, column).
    void (*finish)(const ck_epilogue *epilogue, const void *residual, size_t row, size_t column, size_t rows,
        size_t columns, const float *from, ptrdiff_t from_ld, ck_type type, void *c, ptrdiff_t ldc);
    size_t mr, nr, width;
} ck_gemm_kernels;

extern const ck_gemm_kernels ck_gemm_kernels_portable;
#if defined(__x86_64__)
extern const ck_gemm_kernels ck_gemm_kernels_avx2, ck_gemm_kernels_avx512;
#endif

const ck_gemm_kernels *ck_gemm_kernels_at(int level);

/// Writes `k` rows from `k_begin` of the panel of B that starts at `column`.
typedef void (*ck_panel_fn)(
    const void *context, size_t column, size_t columns, size_t k_begin, size_t k, float *panel);

/// A product whose B comes from a function, f32: convolutions gather their input this way.
typedef struct {
    ck_panel_fn fn;
    const void *context;
} ck_panel_source;

/// What a packed operand starts with; its elements follow.
typedef struct {
    uint32_t magic, level, type, reserved;
    uint64_t outer, k;
    char padding[32];
} ck_packed_header;

enum { CK_PACKED_A = 0x41676b63, CK_PACKED_B = 0x42676b63 };

/// The elements, or null where the blob is not `outer` × `k` of that kind.
const void *ck_packed_elements(const void *packed, uint32_t magic, size_t outer, size_t k);

/// Where panel `index` of `count` panels over `rows` rows starts: heights differ by one at most.
static inline size_t ck_panel_start(size_t index, size_t count, size_t rows) {
    size_t extra = rows % count;
    return index * (rows / count) + (index < extra ? index : extra);
}

/// Whether this thread is inside a parallel loop, where another one would run on it alone.
bool ck_is_inside_loop(void);

bool ck_gemm_run_from(const ck_gemm *gemm, const ck_panel_source *source);

/// A buffer of this thread, aligned to 64 bytes, at least `bytes` long; null where memory ran out. Its contents last
/// until the next call with the same slot.
typedef enum {
    CK_SCRATCH_A,
    CK_SCRATCH_B,
    CK_SCRATCH_PANEL,
    CK_SCRATCH_STAGE,
    CK_SCRATCH_OUTER,
    CK_SCRATCH_INNER,
    CK_SCRATCH_COUNT
} ck_scratch_slot;

void *ck_scratch(ck_scratch_slot slot, size_t bytes);
