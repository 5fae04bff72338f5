/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake driver: modules, functions and launches, on the simulator. */
#include "fake_cuda.h"
#include "backend/sim/simulator.h"
#include "families/complex/args.h"
#include "families/double/args.h"
#include "families/half/args.h"
#include "families/residue/args.h"
#include "families/transform/args.h"
#include "probes/args.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FATBIN_MAGIC 0xba55ed50u

/* Made by make: KERNEL(name) for each. */
#define KERNEL(id)                                                                                 \
    extern void xg_simulated_##id(const void *);                                                   \
    extern const size_t xg_simulated_bytes_##id;
#include "fake_kernels.inc"
#undef KERNEL

static const struct {
    xg_program program;
    const size_t *argument_bytes;
} kernels[] = {
#define KERNEL(id)                                                                                 \
    {{.symbol = "xg_" #id, .simulated = xg_simulated_##id}, &xg_simulated_bytes_##id},
#include "fake_kernels.inc"
#undef KERNEL
};

/* Whether an image is PTX that the GPU can run: for it or an older one, or with "a" for it alone.
 */
static bool is_ptx_for_gpu(const char *image)
{
    int major, minor, target, end = 0;
    if (sscanf(image, ".version %d.%d .target sm_%d%n", &major, &minor, &target, &end) != 3)
        return false;
    return image[end] == 'a' ? target == compute_capability() : target <= compute_capability();
}

/*
 * Whether PTX has a kernel of that name, whose first parameter has so many bytes. That of
 * tests/cuda_fake/nvcc.sh has none, and stands for every one.
 */
static bool has_kernel(const char *ptx, const char *name, size_t argument_bytes)
{
    char entry[256];
    if (!strstr(ptx, ".entry "))
        return true;
    snprintf(entry, sizeof entry, "%s_param_0[%zu]", name, argument_bytes);
    const char *parameter = strstr(ptx, entry);
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *kernel = strstr(ptx, entry);
    return kernel && parameter && kernel < parameter && parameter < strchr(kernel, ')');
}

xg_cu_result cuModuleLoadData(xg_cu_module *module, const void *image)
{
    BEGIN(cuModuleLoadData, INITIALISED | CONTEXT | NO_CAPTURE);
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic != FATBIN_MAGIC && !is_ptx_for_gpu(image))
        return fault(INVALID_IMAGE, "cuModuleLoadData of no fatbin, and of no PTX for the GPU");
    object *o = add(MODULE);
    if (o)
        o->ptx = magic == FATBIN_MAGIC ? NULL : image;
    *module = (xg_cu_module)o;
    return o ? 0 : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

/* Takes its time outside of the lock, beside other calls. */
static void translate(void)
{
    const unsigned long long milliseconds = setting("FAKE_CUDA_TRANSLATION", 0);
    const struct timespec time = {.tv_sec = (time_t)(milliseconds / 1000),
                                  .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    nanosleep(&time, NULL);
}

xg_cu_result cuLibraryLoadData(xg_cu_library *library, const void *image, void *options,
                               void **values, unsigned count, void *library_options,
                               void **library_values, unsigned library_count)
{
    (void)options, (void)values, (void)library_options, (void)library_values;
    translate();
    BEGIN(cuLibraryLoadData, INITIALISED | CONTEXT | NO_CAPTURE);
    if (count || library_count)
        return fault(INVALID_VALUE, "cuLibraryLoadData with options that are not known");
    if (!is_ptx_for_gpu(image))
        return fault(INVALID_IMAGE, "cuLibraryLoadData of no PTX for the GPU");
    object *o = add(LIBRARY);
    if (o)
        o->ptx = image;
    *library = (xg_cu_library)o;
    return o ? 0 : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

xg_cu_result cuLibraryGetModule(xg_cu_module *module, xg_cu_library library)
{
    BEGIN(cuLibraryGetModule, INITIALISED | CONTEXT);
    object *const of = find(LIBRARY, library);
    if (!of || of->context != current())
        return fault(INVALID_HANDLE, "cuLibraryGetModule of what is no library");
    object *const o = add(MODULE);
    if (o) {
        o->ptx = of->ptx;
        o->library = of;
    }
    *module = (xg_cu_module)o;
    return o ? 0 : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

/* Its modules end with it. */
xg_cu_result cuLibraryUnload(xg_cu_library library)
{
    BEGIN_RELEASE(cuLibraryUnload, INITIALISED);
    object *const of = find(LIBRARY, library);
    if (!of)
        return fault(INVALID_HANDLE, "cuLibraryUnload of what is no library");
    for (object *o = objects, *next; o; o = next) {
        next = o->next;
        if (o->library == of)
            drop(o);
    }
    drop(of);
    return refused;
}

xg_cu_result cuModuleUnload(xg_cu_module module)
{
    BEGIN_RELEASE(cuModuleUnload, INITIALISED | CONTEXT | NO_CAPTURE);
    object *o = find(MODULE, module);
    if (!o || o->context != current())
        return fault(INVALID_HANDLE, "cuModuleUnload of what is no module of the context");
    if (o->library)
        return fault(INVALID_HANDLE, "cuModuleUnload of a library's module");
    drop(o);
    return refused;
}

xg_cu_result cuModuleGetFunction(xg_cu_function *function, xg_cu_module module, const char *name)
{
    BEGIN(cuModuleGetFunction, INITIALISED | CONTEXT);
    object *o = find(MODULE, module);
    if (!o || o->context != current())
        return fault(INVALID_HANDLE, "cuModuleGetFunction of what is no module of the context");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].program.symbol, name) == 0) {
            if (o->ptx && !has_kernel(o->ptx, name, *kernels[i].argument_bytes))
                return fault(NOT_FOUND, "cuModuleGetFunction of PTX without the kernel, or with an "
                                        "argument of other bytes than the kernel's");
            o->program = kernels[i].program;
            o->argument_bytes = kernels[i].argument_bytes;
            o->ready = true;
            *function = (xg_cu_function)o;
            return 0;
        }
    return NOT_FOUND;
}

static object *function_of(xg_cu_function token)
{
    object *o = find(MODULE, token);
    return o && o->ready && o->context == current() ? o : NULL;
}

xg_cu_result cuFuncSetAttribute(xg_cu_function token, unsigned attribute, int value)
{
    BEGIN(cuFuncSetAttribute, INITIALISED | CONTEXT);
    object *function = function_of(token);
    if (!function)
        return fault(INVALID_HANDLE, "cuFuncSetAttribute of what is no function of the context");
    if (attribute != XG_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        value > 227 * 1024)
        return fault(INVALID_VALUE, "cuFuncSetAttribute of more shared memory than there is");
    function->shared_bytes = value;
    return 0;
}

xg_cu_result cuFuncGetAttribute(int *value, unsigned attribute, xg_cu_function function)
{
    BEGIN(cuFuncGetAttribute, INITIALISED | CONTEXT);
    if (!function_of(function))
        return fault(INVALID_HANDLE, "cuFuncGetAttribute of what is no function of the context");
    switch (attribute) {
    case XG_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 768;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = 8192;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 24;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 16;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 40;
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = compute_capability();
        return 0;
    case XG_CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)setting("FAKE_CUDA_PTX", 80);
        return 0;
    default:
        return INVALID_VALUE;
    }
}

static bool is_launch(const xg_launch *launch)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return launch->grid[0] && launch->grid[0] <= INT32_MAX && launch->grid[1] &&
           launch->grid[1] <= GRID_YZ_MAX && launch->grid[2] && launch->grid[2] <= GRID_YZ_MAX &&
           threads && threads <= BLOCK_MAX;
}

static bool readable(const void *pointer)
{
    return !pointer || memory_at(pointer, sizeof(float));
}

#define OPERAND(args, i, field) (offsetof(args, operands[i]) + offsetof(args##_operand, field))

/* The operands of kernels that copy or convert both. */
typedef xg_complex_operand xg_complex_args_operand;
typedef xg_half_aligned xg_half_align_args_operand;
typedef xg_residue_operand xg_residue_split_args_operand;

/* Where the pointers are in kernels' arguments, by their symbols, or what these begin with. */
static const struct {
    const char *symbol;
    size_t pointers[4];
} arguments_of[] = {
    {"xg_pack",
     {offsetof(xg_pack_args, a), offsetof(xg_pack_args, b), offsetof(xg_pack_args, a_copy),
      offsetof(xg_pack_args, b_copy)}},
    {"xg_pad", {offsetof(xg_pad_args, from), offsetof(xg_pad_args, to)}},
    {"xg_unpad", {offsetof(xg_unpad_args, from), offsetof(xg_unpad_args, c)}},
    {"xg_reduce", {offsetof(xg_reduce_args, partial), offsetof(xg_reduce_args, c)}},
    {"xg_scale", {offsetof(xg_scale_args, c)}},
    {"xg_double_reduce_",
     {offsetof(xg_double_reduce_args, sums), offsetof(xg_double_reduce_args, c)}},
    {"xg_complex_to_real",
     {OPERAND(xg_complex_args, 0, to), OPERAND(xg_complex_args, 1, from),
      OPERAND(xg_complex_args, 1, to)}},
    {"xg_half_align",
     {OPERAND(xg_half_align_args, 0, to), OPERAND(xg_half_align_args, 1, from),
      OPERAND(xg_half_align_args, 1, to)}},
    {"xg_half_reduce", {offsetof(xg_half_reduce_args, sums), offsetof(xg_half_reduce_args, c)}},
    {"xg_mma_",
     {offsetof(xg_mma_args, a), offsetof(xg_mma_args, b), offsetof(xg_mma_args, product.c)}},
    {"xg_wgmma_", {offsetof(xg_half_args, c), offsetof(xg_half_args, sums)}},
    {"xg_residue_scale",
     {OPERAND(xg_residue_split_args, 0, about), OPERAND(xg_residue_split_args, 1, from)}},
    {"xg_residue_scale_",
     {OPERAND(xg_residue_split_args, 0, about), OPERAND(xg_residue_split_args, 1, from)}},
    {"xg_residue_split",
     {OPERAND(xg_residue_split_args, 0, planes), OPERAND(xg_residue_split_args, 0, about),
      OPERAND(xg_residue_split_args, 1, from), OPERAND(xg_residue_split_args, 1, planes)}},
    {"xg_residue_split_",
     {OPERAND(xg_residue_split_args, 0, planes), OPERAND(xg_residue_split_args, 0, about),
      OPERAND(xg_residue_split_args, 1, from), OPERAND(xg_residue_split_args, 1, planes)}},
    {"xg_residue_reduce",
     {offsetof(xg_residue_reduce_args, residues), offsetof(xg_residue_reduce_args, a),
      offsetof(xg_residue_reduce_args, b), offsetof(xg_residue_reduce_args, c)}},
    {"xg_residue_",
     {offsetof(xg_residue_product_args, a), offsetof(xg_residue_product_args, b),
      offsetof(xg_residue_product_args, c)}},
    {"xg_probe_", {offsetof(xg_probe_args, a), offsetof(xg_probe_args, c)}},
    {"xg_",
     {offsetof(xg_product_args, a), offsetof(xg_product_args, b), offsetof(xg_product_args, c)}},
};

static bool is_named(const xg_program *program, const char *symbol)
{
    const size_t length = strlen(symbol);
    return symbol[length - 1] == '_' ? strncmp(program->symbol, symbol, length) == 0
                                     : strcmp(program->symbol, symbol) == 0;
}

/* As on a GPU, a kernel reads the memory of its device only. */
static bool are_on_device(const xg_program *program, const unsigned char *arguments)
{
    size_t kind = 0;
    while (!is_named(program, arguments_of[kind].symbol))
        kind++;
    for (int i = 0; i < 4; i++) {
        const size_t at = arguments_of[kind].pointers[i];
        const void *pointer;
        memcpy(&pointer, arguments + at, sizeof pointer);
        if ((at > 0 || is_named(program, "xg_probe_")) && !readable(pointer))
            return false;
    }
    return true;
}

static xg_cu_result simulate(const xg_launch *launch)
{
    xg_error error;
    if (getenv("FAKE_CUDA_IDLE"))
        return 0;
    const xgemm_status status = xg_sim_launch(launch, &(xg_sim_options){0}, &error);
    if (!status)
        return 0;
    fprintf(stderr, "fake libcuda: %s\n", error.text);
    return status == XGEMM_ERROR_LAUNCH ? XG_CUDA_ERROR_LAUNCH_FAILED : XG_CUDA_ERROR_OUT_OF_MEMORY;
}

/* What the fake writes into a map. */
typedef struct {
    uint64_t is_map;
    xg_tensor tensor;
} map_words;
enum { IS_MAP = 0x6d6170 };
_Static_assert(sizeof(map_words) <= sizeof(xg_cu_tensor_map), "a map has too few words");

/* The bytes of an element of the types that the library has; 0: another. */
static int bytes_of_type(unsigned type)
{
    return type == XG_CU_TENSOR_MAP_DATA_TYPE_UINT8    ? 1
           : type == XG_CU_TENSOR_MAP_DATA_TYPE_UINT16 ? 2
           : type == XG_CU_TENSOR_MAP_DATA_TYPE_UINT32 ? 4
           : type == XG_CU_TENSOR_MAP_DATA_TYPE_UINT64 ? 8
                                                       : 0;
}

xg_cu_result cuTensorMapEncodeTiled(xg_cu_tensor_map *map, unsigned type, unsigned rank, void *base,
                                    const uint64_t *sizes, const uint64_t *byte_steps,
                                    const unsigned *tile, const unsigned *element_steps,
                                    unsigned interleave, unsigned swizzle, unsigned l2_promotion,
                                    unsigned fill)
{
    enum { TILE_MOST = 256 };
    BEGIN(cuTensorMapEncodeTiled, INITIALISED);
    const int bytes = bytes_of_type(type);
    const bool swizzled = swizzle == XG_CU_TENSOR_MAP_SWIZZLE_128B;
    if (!bytes || rank < 2 || rank > 3 || interleave || (swizzle && !swizzled) || fill ||
        l2_promotion > XG_CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return fault(INVALID_VALUE, "a map of a kind that the fake does not know");
    if ((uintptr_t)map % _Alignof(xg_cu_tensor_map) || (uintptr_t)base % 16)
        return fault(INVALID_VALUE, "a map of what is not aligned");
    for (unsigned i = 0; i + 1 < rank; i++)
        if (byte_steps[i] % 16 || byte_steps[i] >= (uint64_t)1 << 40)
            return fault(INVALID_VALUE, "a map of what is not aligned");
    if (tile[0] * (unsigned)bytes % 16 || (swizzled && tile[0] * (unsigned)bytes > 128))
        return fault(INVALID_VALUE, "a map with a box whose rows cannot be");
    for (unsigned i = 0; i < rank; i++)
        if (!sizes[i] || sizes[i] > (uint64_t)1 << 32 || !tile[i] || tile[i] > TILE_MOST ||
            element_steps[i] != 1)
            return fault(INVALID_VALUE, "a map with sizes that cannot be");
    const map_words words = {
        .is_map = IS_MAP,
        .tensor = {.base = base,
                   .element_bytes = bytes,
                   .columns = (int64_t)sizes[0],
                   .rows = (int64_t)sizes[1],
                   .stride_bytes = (int64_t)byte_steps[0],
                   .box_columns = (int)tile[0],
                   .box_rows = (int)tile[1],
                   .matrices = rank > 2 ? (int64_t)sizes[2] : 0,
                   .matrix_stride_bytes = rank > 2 ? (int64_t)byte_steps[1] : 0,
                   .swizzled = swizzled}};
    memset(map, 0, sizeof *map);
    memcpy(map, &words, sizeof words);
    return 0;
}

/* The second argument of those kernels that have one. */
static bool take_maps(xg_launch *launch, void **arguments)
{
    static const char *const kernels_with_maps[] = {"xg_tma_", "xg_wgmma_", "xg_residue_128x256",
                                                    "xg_residue_guard_128x256",
                                                    "xg_residue_c64_128x256"};
    enum { WITH_MAPS = sizeof kernels_with_maps / sizeof *kernels_with_maps };
    bool has_maps = false;
    for (int i = 0; i < WITH_MAPS; i++)
        has_maps = has_maps || is_named(launch->program, kernels_with_maps[i]);
    if (!has_maps)
        return true;
    const xg_cu_tensor_map *maps = arguments[1];
    for (int i = 0; i < XG_TENSORS_MAX; i++) {
        map_words words;
        memcpy(&words, &maps[i], sizeof words);
        if (i == 2 && words.is_map == 0)
            continue; /* C's, which few kernels want, and these not always */
        if (words.is_map != IS_MAP || !readable(words.tensor.base))
            return false;
        launch->tensors[i] = words.tensor;
    }
    return true;
}

xg_cu_result run_recorded(const recorded_launch *recorded)
{
    const object *function = function_of(recorded->function);
    xg_launch launch = recorded->launch;
    if (!function)
        return fault(INVALID_HANDLE, "a recorded launch of a function that was unloaded");
    launch.program = &function->program;
    launch.arguments = recorded->arguments;
    launch.arguments_size = sizeof recorded->arguments;
    flush();
    if (!are_on_device(launch.program, recorded->arguments))
        return fault(XG_CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel with memory of another device");
    memcpy(last_arguments, recorded->arguments, sizeof last_arguments);
    return simulate(&launch);
}

static xg_cu_result start(xg_cu_function token, xg_launch *launch, xg_cu_stream stream,
                          void **arguments, void **extra)
{
    const object *function = function_of(token);
    recorded_launch recorded = {.function = token};
    launch->program = function ? &function->program : NULL;
    if (!function)
        return fault(INVALID_HANDLE, "a launch of what is no function of the context");
    if (launch->shared_bytes > 48 * 1024 && (int)launch->shared_bytes > function->shared_bytes)
        return fault(INVALID_VALUE, "a launch with more shared memory than was allowed");
    if (!is_launch(launch) || extra)
        return fault(INVALID_VALUE, "a launch with a grid or a block that cannot be");
    if (!take_maps(launch, arguments))
        return fault(INVALID_VALUE, "a kernel without the maps that it has");
    if (*function->argument_bytes > sizeof recorded.arguments)
        return fault(INVALID_VALUE, "a kernel whose arguments are longer than the fake keeps");
    memcpy(recorded.arguments, arguments[0], *function->argument_bytes);
    recorded.launch = *launch;
    last_stream = stream;
    return capture(&recorded, stream) ? 0 : run_recorded(&recorded);
}

xg_cu_result cuLaunchKernel(xg_cu_function token, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z,
                            unsigned shared_bytes, xg_cu_stream stream, void **arguments,
                            void **extra)
{
    BEGIN(cuLaunchKernel, INITIALISED | CONTEXT);
    xg_launch launch = {.grid = {grid_x, grid_y, grid_z},
                        .block = {block_x, block_y, block_z},
                        .shared_bytes = shared_bytes};
    return start(token, &launch, stream, arguments, extra);
}

xg_cu_result cuLaunchKernelEx(const xg_cu_launch_config *how, xg_cu_function token,
                              void **arguments, void **extra)
{
    BEGIN(cuLaunchKernelEx, INITIALISED | CONTEXT);
    xg_launch launch = {.grid = {how->grid[0], how->grid[1], how->grid[2]},
                        .block = {how->block[0], how->block[1], how->block[2]},
                        .shared_bytes = how->shared_bytes};
    for (unsigned i = 0; i < how->count; i++) {
        const xg_cu_attribute *attribute = &how->attributes[i];
        if (attribute->id == XG_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            launch.cluster = attribute->value.cluster[0];
        else if (attribute->id != XG_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return fault(INVALID_VALUE, "a launch with an attribute that is not known");
    }
    return start(token, &launch, how->stream, arguments, extra);
}
