#include <stdlib.h>

#include "program.h"

static ck_type class_of(ck_type type) { return type == CK_F16 || type == CK_BF16 ? CK_F32 : type; }

static int operand_count(ck_ew_op op) {
    if (op == CK_EW_WHERE) return 3;
    return op < CK_EW_ADD || op == CK_EW_CAST ? 1 : 2;
}

static bool is_comparison(ck_ew_op op) { return op >= CK_EW_EQUAL && op <= CK_EW_LESS_EQUAL; }

/// Nanoseconds for a thousand elements, roughly.
static size_t cost_of(ck_ew_op op, ck_type type) {
    bool simple = op <= CK_EW_TRUNC || (op >= CK_EW_ROUND_F16 && op <= CK_EW_MUL) || op >= CK_EW_MAXIMUM;
    if (simple) return 100;
    if (type != CK_F32) return 5000;
    return (op >= CK_EW_TAN && op <= CK_EW_ATANH && op != CK_EW_TANH) || op == CK_EW_MODULO ? 10000 : 800;
}

/// The class of the instruction's result, or -1 if it does not fit its operands.
static int result_class(const ck_ew_program *p, const ck_ew_instruction *i, int value) {
    int count = operand_count(i->op);
    if (i->a >= value || (count > 1 && i->b >= value) || (count > 2 && i->c >= value)) return -1;
    const ck_type *classes = p->classes;
    if (i->op == CK_EW_WHERE) {
        bool fits = classes[i->a] == CK_BOOL && classes[i->b] == i->type && classes[i->c] == i->type;
        return fits ? (int)i->type : -1;
    }
    if (classes[i->a] != i->type || (count > 1 && classes[i->b] != i->type)) return -1;
    if (i->op == CK_EW_CAST) return (int)i->to;
    return is_comparison(i->op) ? CK_BOOL : (int)i->type;
}

static bool add_step(ck_ew_program *p, const ck_ew_instruction *i, int value) {
    if ((unsigned)i->op >= CK_EW_OP_COUNT || (unsigned)i->type > CK_F64) return false;
    int class = result_class(p, i, value);
    if (class < 0 || class > CK_F64 || class_of((ck_type)class) != (ck_type)class) return false;
    step *s = &p->steps[p->step_count++];
    *s = (step){.a = i->a, .b = i->b, .c = i->c, .slot = -1, .output = -1};
    ck_ew_op op = i->op;
    if (op == CK_EW_LESS || op == CK_EW_LESS_EQUAL) {
        op = op == CK_EW_LESS ? CK_EW_GREATER : CK_EW_GREATER_EQUAL;
        s->a = i->b, s->b = i->a;
    }
    // Unused operands get a readable address.
    int count = operand_count(op);
    if (count < 2) s->b = s->a;
    if (count < 3) s->c = s->a;
    s->kernels[0] = ck_vector_kernels_portable.elementwise(op, i->type, i->to);
#if defined(__x86_64__)
    s->kernels[1] = ck_vector_kernels_avx2.elementwise(op, i->type, i->to);
    s->kernels[2] = ck_vector_kernels_avx512.elementwise(op, i->type, i->to);
#endif
    p->classes[value] = (ck_type)class;
    p->cost += cost_of(op, i->type);
    return s->kernels[0] != NULL;
}

static bool add_output(ck_ew_program *p, ck_ew_output output, int value_count) {
    if (output.value >= value_count || (unsigned)output.type > CK_F64) return false;
    if (class_of(output.type) != p->classes[output.value]) return false;
    int index = p->output_count++;
    p->outputs[index] = output;
    int first = p->input_count + p->constant_count;
    if (output.value >= first && output.type == p->classes[output.value]) {
        step *s = &p->steps[output.value - first];
        if (s->output < 0) s->output = (int16_t)index;
    }
    return true;
}

/// Buffers: one for each input and constant, reused ones for the results. A result never takes over the buffer of an
/// operand of its own step, since their elements may differ in size.
static void assign_slots(ck_ew_program *p) {
    int first = p->input_count + p->constant_count, total = first + p->step_count;
    int last_use[CK_EW_MAX_VALUES];
    for (int v = 0; v < total; v++) last_use[v] = v;
    for (int i = 0; i < p->step_count; i++) {
        const step *s = &p->steps[i];
        last_use[s->a] = last_use[s->b] = last_use[s->c] = first + i;
    }
    for (int i = 0; i < p->output_count; i++) last_use[p->outputs[i].value] = total;
    bool taken[CK_EW_MAX_VALUES] = {false};
    for (int v = 0; v < first; v++) p->slots[v] = (int16_t)v, taken[v] = true;
    p->slot_count = first;
    for (int v = first; v < total; v++) {
        int slot = first;
        while (taken[slot]) slot++;
        taken[slot] = true;
        p->slots[v] = p->steps[v - first].slot = (int16_t)slot;
        if (slot >= p->slot_count) p->slot_count = slot + 1;
        for (int w = first; w <= v; w++) {
            if (last_use[w] == v) taken[p->slots[w]] = false;
        }
    }
}

static bool fill(
    ck_ew_program *p, const ck_type *input_types, const ck_ew_constant *constants,
    const ck_ew_instruction *instructions, int instruction_count, const ck_ew_output *outputs, int output_count) {
    int value = 0;
    for (int i = 0; i < p->input_count; i++) {
        if ((unsigned)input_types[i] > CK_F64) return false;
        p->input_types[i] = input_types[i];
        p->classes[value++] = class_of(input_types[i]);
    }
    for (int i = 0; i < p->constant_count; i++) {
        ck_type type = constants[i].type;
        if ((unsigned)type > CK_F64 || class_of(type) != type) return false;
        p->constants[i] = constants[i];
        p->classes[value++] = type;
    }
    for (int i = 0; i < instruction_count; i++) {
        if (!add_step(p, &instructions[i], value++)) return false;
    }
    for (int i = 0; i < output_count; i++) {
        if (!add_output(p, outputs[i], value)) return false;
    }
    for (int i = 0; i < value; i++) {
        size_t size = ck_type_size(p->classes[i]);
        if (size > p->width) p->width = size;
    }
    assign_slots(p);
    size_t block = SCRATCH_BYTES / (p->width * (size_t)p->slot_count) / 64 * 64;
    p->block = block < BLOCK ? block : BLOCK;
    return true;
}

ck_ew_program *ck_ew_create(
    const ck_type *input_types, int input_count, const ck_ew_constant *constants, int constant_count,
    const ck_ew_instruction *instructions, int instruction_count, const ck_ew_output *outputs, int output_count) {
    if (input_count < 0 || input_count > CK_EW_MAX_INPUTS || output_count < 1 || output_count > CK_EW_MAX_OUTPUTS)
        return NULL;
    if (constant_count < 0 || constant_count > CK_EW_MAX_VALUES || instruction_count < 0) return NULL;
    if (instruction_count > CK_EW_MAX_VALUES - input_count - constant_count) return NULL;
    if (input_count + constant_count == 0) return NULL;
    ck_ew_program *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->input_count = input_count, p->constant_count = constant_count, p->cost = 200;
    if (fill(p, input_types, constants, instructions, instruction_count, outputs, output_count)) return p;
    free(p);
    return NULL;
}

void ck_ew_destroy(ck_ew_program *program) { free(program); }
