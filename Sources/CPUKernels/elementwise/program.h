#pragma once
// The prepared form of an elementwise program.

#include "../vector_kernels.h"

enum {
    /// All block buffers of a task: on its stack, within a core's second-level cache.
    SCRATCH_BYTES = 96 * 1024,
    /// Elements of a block at most; fewer when there are many buffers.
    BLOCK = 1024,
};

typedef struct {
    ck_ew_kernel kernels[3];
    uint16_t a, b, c;
    /// Where the result goes: a buffer, or straight to an output if that is not negative.
    int16_t slot, output;
} step;

struct ck_ew_program {
    int input_count, constant_count, step_count, output_count, slot_count;
    /// Bytes of a buffer's element: the widest class's.
    size_t width;
    size_t block;
    /// Rough nanoseconds for a thousand elements, to size tasks.
    size_t cost;
    ck_type input_types[CK_EW_MAX_INPUTS];
    ck_ew_constant constants[CK_EW_MAX_VALUES];
    step steps[CK_EW_MAX_VALUES];
    ck_ew_output outputs[CK_EW_MAX_OUTPUTS];
    /// Class and buffer of each value. Inputs and constants keep theirs for the whole run.
    ck_type classes[CK_EW_MAX_VALUES];
    int16_t slots[CK_EW_MAX_VALUES];
};
