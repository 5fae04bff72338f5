/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: memory and copies. */
#include "driver_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_out_of_memory)
{
    xgemm_handle *handle = create(0);
    int not_null;
    void *memory = &not_null;
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, xgemm_malloc(handle, 1u << 31, &memory));
    ck_assert_ptr_null(memory);
    ck_assert_str_eq(xgemm_last_error(handle), "xgemm_malloc: GPU 0 has no 2147483648 bytes of "
                                               "memory left: 1073741824 of 1073741824 are free");
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, xgemm_malloc(handle, SIZE_MAX, &memory));
    multiply(handle);
    destroy(handle);
}
END_TEST

START_TEST(test_out_of_memory_workspace)
{
    xgemm_handle *handle = create(0);
    uint64_t free_bytes, total;
    char sentence[64];
    OK(handle, xgemm_set_kernel(handle, "padded"));
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    set("FAKE_CUDA_MEMORY", (long long)(total - free_bytes) + ODD_PADDED_BYTES - 1);
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, run(handle, &p));
    snprintf(sentence, sizeof sentence, "xgemm_sgemm: GPU 0 has no %d bytes", ODD_PADDED_BYTES);
    says(handle, sentence);
    snprintf(sentence, sizeof sentence, "left: %d of", ODD_PADDED_BYTES - 1);
    says(handle, sentence);

    OK(handle, xgemm_set_kernel(handle, "tiled32")); /* the handle goes on */
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    OK(handle, xgemm_upload(handle, p.device_c, p.c, p.c_count * sizeof(float)));
    set("FAKE_CUDA_MEMORY", (long long)(total - free_bytes) + ODD_PADDED_BYTES);
    OK(handle, xgemm_set_kernel(handle, "padded"));
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_memory_fails)
{
    xgemm_handle *handle = create(0);
    void *memory, *more;
    char byte = 0;
    uint64_t x, y;
    OK(handle, xgemm_malloc(handle, 1, &memory));
    fail_next("cuMemAlloc_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_malloc(handle, 1, &more));
    ck_assert_ptr_null(more);
    says(handle, "xgemm_malloc: cuMemAlloc failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuMemcpyHtoDAsync_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_upload(handle, memory, &byte, 1));
    says(handle, "xgemm_upload: cuMemcpyHtoDAsync failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuMemcpyDtoHAsync_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_download(handle, &byte, memory, 1));
    says(handle, "xgemm_download: cuMemcpyDtoHAsync failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuMemcpyDtoHAsync_v2", XG_CUDA_ERROR_ILLEGAL_ADDRESS); /* of a kernel before it */
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_download(handle, &byte, memory, 1));
    fail_next("cuMemGetInfo_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_memory_info(handle, &x, &y));
    says(handle, "xgemm_memory_info: cuMemGetInfo failed");
    fail_next("cuMemFree_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_free(handle, memory));
    says(handle, "xgemm_free: cuMemFree failed");
    fail_no_more();
    OK(handle, xgemm_free(handle, memory));
    destroy(handle);
}
END_TEST

/* A copy is done when the call returns, however late the driver does it. */
START_TEST(test_copies)
{
    xgemm_handle *handle = create(0);
    int token;
    void *memory;
    char text[16] = "fifteen letters";
    OK(handle, xgemm_malloc(handle, sizeof text, &memory));
    for (int i = 0; i < 2; i++) {
        OK(handle, xgemm_set_stream(handle, i ? &token : NULL));
        snprintf(text, sizeof text, "fifteen letters");
        OK(handle, xgemm_upload(handle, memory, text, sizeof text));
        memset(text, 0, sizeof text);
        OK(handle, xgemm_download(handle, text, memory, sizeof text));
        ck_assert_str_eq(text, "fifteen letters");
    }
    OK(handle, xgemm_free(handle, memory));
    destroy(handle);
}
END_TEST

START_TEST(test_memory_info)
{
    xgemm_handle *handle = create(0);
    uint64_t free_bytes = 1, total = 1;
    void *memory;
    set("FAKE_CUDA_MEMORY", 1000000);
    OK(handle, xgemm_malloc(handle, 12345, &memory));
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, 1000000 - 12345);
    ck_assert_uint_eq(total, 1000000);
    OK(handle, xgemm_free(handle, memory));
    OK(handle, xgemm_memory_info(handle, &free_bytes, &total));
    ck_assert_uint_eq(free_bytes, 1000000);
    destroy(handle);
}
END_TEST

START_TEST(test_free_of_a_stranger)
{
    xgemm_handle *handle = create(0);
    int ours;
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_free(handle, &ours));
    says(handle, "xgemm_free: cuMemFree failed: CUDA_ERROR_INVALID_VALUE (invalid argument)");
    destroy(handle);
    expected_leaks = 1; /* it counts as one */
}
END_TEST

START_TEST(test_host_memory_in_a_product)
{
    xgemm_handle *handle = create(0);
    float x = 1.0f;
    GIVES(XGEMM_ERROR_LAUNCH, handle,
          xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1, 1.0f, &x, 1,
                      &x, 1, 0.0f, &x, 1));
    destroy(handle);
    expected_leaks = 1;
}
END_TEST

/* C = A B of matrices on the host, 40 x 30 x 70, with gaps between their rows. */
enum { HOST_M = 40, HOST_N = 30, HOST_K = 70, HOST_LD = 80, HOST_CELLS = HOST_LD * HOST_LD };

static xgemm_status multiply_on_host(xgemm_handle *handle, float *matrices)
{
    xgemm_product p = XGEMM_PRODUCT_INIT;
    for (int i = 0; i < 2 * HOST_CELLS; i++)
        matrices[i] = (float)(i % 7 - 3);
    for (int i = 0; i < HOST_CELLS; i++)
        matrices[2 * HOST_CELLS + i] = 99.0f;
    p.m = HOST_M, p.n = HOST_N, p.k = HOST_K;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.a = matrices, p.lda = HOST_LD;
    p.b = matrices + HOST_CELLS, p.ldb = HOST_LD;
    p.c = matrices + 2 * HOST_CELLS, p.ldc = HOST_LD;
    p.flags = XGEMM_HOST_MEMORY;
    return xgemm_gemm(handle, &p);
}

static bool host_product_is_right(const float *matrices)
{
    const float *a = matrices, *b = a + HOST_CELLS, *c = b + HOST_CELLS;
    for (int i = 0; i < HOST_CELLS; i++) {
        const int row = i / HOST_LD, column = i % HOST_LD;
        float sum = 0.0f;
        for (int l = 0; l < HOST_K && column < HOST_N && row < HOST_M; l++)
            sum += a[row * HOST_LD + l] * b[l * HOST_LD + column];
        if (c[i] != (column < HOST_N && row < HOST_M ? sum : 99.0f))
            return false;
    }
    return true;
}

/* While a program captures a stream of its own: memory is allocated and freed all the same. */
START_TEST(test_host_memory_in_a_capture)
{
    xgemm_handle *handle = create(0);
    float *const matrices = malloc(3 * HOST_CELLS * sizeof *matrices);
    void *stream, *graph;
    ck_assert_ptr_nonnull(matrices);
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_int_eq(fake.stream_create(&stream, 0), 0);
    ck_assert_int_eq(fake.capture_begin(stream, 0), 0);
    cu.context_set(NULL);
    setenv("XGEMM_KERNEL", "nonesuch", 1); /* what the handle was made with holds */
    for (int i = 0; i < 2; i++) {
        OK(handle, multiply_on_host(handle, matrices));
        ck_assert(host_product_is_right(matrices));
    }
    ck_assert_int_eq(fake.capture_end(stream, &graph), 0);
    ck_assert_int_eq(fake.graph_destroy(graph), 0);
    ck_assert_int_eq(fake.stream_destroy(stream), 0);
    ck_assert_uint_eq(capture_mode(), 0);
    destroy(handle);
    free(matrices);
}
END_TEST

/* Devices are looked at, and nothing is waited for. */
START_TEST(test_devices_in_a_capture)
{
    static const int ordinals[] = {0, 0};
    xgemm_handle *handle = create(0), *both = NULL;
    void *stream, *graph;
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_int_eq(fake.stream_create(&stream, 0), 0);
    ck_assert_int_eq(fake.capture_begin(stream, 0), 0);
    ck_assert_int_eq(xgemm_create_devices(&both, ordinals, 2), XGEMM_OK);
    ck_assert_int_eq(fake.capture_end(stream, &graph), 0);
    ck_assert_int_eq(fake.graph_destroy(graph), 0);
    ck_assert_int_eq(fake.stream_destroy(stream), 0);
    cu.context_set(NULL);
    xgemm_destroy(both);
    destroy(handle);
}
END_TEST

/* A GPU that is full by then: a dot product, whose k alone could be divided further. */
START_TEST(test_host_memory_on_a_full_gpu)
{
    xgemm_handle *handle = create(0);
    float x[1000] = {1.0f}, c = 0.0f;
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = p.n = 1, p.k = 1000;
    p.type_a = p.type_b = p.type_c = XGEMM_F32;
    p.a = p.b = x, p.lda = p.k;
    p.ldb = p.ldc = 1, p.c = &c;
    p.flags = XGEMM_HOST_MEMORY;
    OK(handle, xgemm_gemm(handle, &p));
    ck_assert(c == 1.0f);
    set("FAKE_CUDA_MEMORY", 1);
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, xgemm_gemm(handle, &p));
    destroy(handle);
}
END_TEST

START_TEST(test_products_of_host_memory)
{
    static const char *const pageable[] = {"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                                           "cuStreamSynchronize"};
    xgemm_handle *handle = create(0);
    float *const matrices = malloc(3 * HOST_CELLS * sizeof *matrices);
    void *pinned = NULL;
    ck_assert_ptr_nonnull(matrices);
    OK(handle, multiply_on_host(handle, matrices));
    ck_assert(host_product_is_right(matrices));
    ck_assert_int_eq(fake.calls("cuMemcpy2DAsync_v2"), 0);
    for (int i = 0; i < 3; i++) {
        fail_next(pageable[i], 999);
        GIVES(XGEMM_ERROR_DRIVER, handle, multiply_on_host(handle, matrices));
        fail_no_more();
        OK(handle, multiply_on_host(handle, matrices));
        ck_assert(host_product_is_right(matrices));
    }
    /* Pinned memory is copied by the device alone, both ways. */
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_int_eq(cu.memory_allocate_pinned(&pinned, 3 * HOST_CELLS * sizeof *matrices), 0);
    cu.context_set(NULL);
    const int copies = fake.calls("cuMemcpyHtoDAsync_v2") + fake.calls("cuMemcpyDtoHAsync_v2");
    OK(handle, multiply_on_host(handle, pinned));
    ck_assert(host_product_is_right(pinned));
    ck_assert_int_eq(fake.calls("cuMemcpy2DAsync_v2"), 3);
    ck_assert_int_eq(fake.calls("cuMemcpyHtoDAsync_v2") + fake.calls("cuMemcpyDtoHAsync_v2"),
                     copies);
    fail_next("cuMemcpy2DAsync_v2", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, multiply_on_host(handle, pinned));
    fail_no_more();
    fail_next("cuPointerGetAttribute", 999); /* then it is taken for pageable */
    OK(handle, multiply_on_host(handle, pinned));
    ck_assert(host_product_is_right(pinned));
    fail_no_more();
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_int_eq(cu.memory_free_pinned(pinned), 0);
    cu.context_set(NULL);
    free(matrices);
    destroy(handle);
}
END_TEST

void add_memory_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "memory", setup, teardown);
    tcase_add_test(tcase, test_out_of_memory);
    tcase_add_test(tcase, test_out_of_memory_workspace);
    tcase_add_test(tcase, test_memory_fails);
    tcase_add_test(tcase, test_copies);
    tcase_add_test(tcase, test_memory_info);
    tcase_add_test(tcase, test_free_of_a_stranger);
    tcase_add_test(tcase, test_host_memory_in_a_product);
    tcase_add_test(tcase, test_host_memory_in_a_capture);
    tcase_add_test(tcase, test_devices_in_a_capture);
    tcase_add_test(tcase, test_host_memory_on_a_full_gpu);
    tcase_add_test(tcase, test_products_of_host_memory);
}
