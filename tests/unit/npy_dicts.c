/* SPDX-License-Identifier: BSD-3-Clause */
/* .npy files: the dict of the header. */
#include "npy_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct accepted_dict {
    const char *text;
    int64_t rows, columns;
    bool fortran_order;
} ACCEPTED_DICTS[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n", 3, 4, false},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (3, 4), }\n", 3, 4, true},
    {"{'descr': '=f4', 'fortran_order': False, 'shape': (3, 4)}\n", 3, 4, false},
    {"{'descr': '|f4', 'fortran_order': False, 'shape': (3, 4)}\n", 3, 4, false},
    {"{'descr': 'f4', 'fortran_order': True, 'shape': (3, 4)}\n", 3, 4, true},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 3, 4, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n ", 3, 4, false},
    {"{\"shape\": (2, 5), \"descr\": \"<f4\", \"fortran_order\": True}\n", 2, 5, true},
    {"{'fortran_order':False,'shape':(6,1),'descr':\"<f4\"}\n", 6, 1, false},
    {"{'shape':(2,3,),'fortran_order':True,'descr':'<f4',}\n", 2, 3, true},
    {" \t{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 3 , 4 ) , } \t\r\f\n", 3, 4,
     false},
    {"{\n'descr':\n'<f4',\n'fortran_order':\nFalse,\n'shape':\n(3,\n4\n),\n}\n\n", 3, 4, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L), }\n", 3, 4, false},
    {"{u'descr': u'<f4', 'fortran_order': False, 'shape': (3, 4), }\n", 3, 4, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4), }\n", 0, 4, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }\n", 3, 0, false},
    {"{'descr': '<f4', 'fortran_order': True, 'shape': (0, 0), }\n", 0, 0, true},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n", 1, 1, false},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 5000), }\n", 100000, 5000, false},
};

START_TEST(accepts_dict)
{
    const struct accepted_dict *wanted = &ACCEPTED_DICTS[_i];
    npy_header header = {
        .rows = 7, .columns = 7, .fortran_order = !wanted->fortran_order, .data_offset = 7};

    ck_assert_msg(npy_parse_dict(wanted->text, strlen(wanted->text), 0, &header, message,
                                 sizeof(message)) == 0,
                  "%s: %s", wanted->text, message);
    ck_assert_str_eq(message, "");
    ck_assert_int_eq(header.rows, wanted->rows);
    ck_assert_int_eq(header.columns, wanted->columns);
    ck_assert_int_eq(header.fortran_order, wanted->fortran_order);
    ck_assert_uint_eq(header.data_offset, 0);
}
END_TEST

/* Dicts that are valid but for one value. */
#define WITH_DESCR(descr) TEXT("{'descr': " descr ", 'fortran_order': False, 'shape': (3, 4), }\n")
#define WITH_ORDER(order) TEXT("{'descr': '<f4', 'fortran_order': " order ", 'shape': (3, 4), }\n")

#define WHAT_IS_TAKEN "; float16, bfloat16, float32, float64, complex64 and complex128 are taken"
#define HUNDRED                                                                                    \
    "ffffffffffffffffffffffffffffffffffffffffffffffffff"                                           \
    "ffffffffffffffffffffffffffffffffffffffffffffffffff"

static const struct refused_dict {
    const char *text;
    size_t size;
    const char *sentence;
} REFUSED_DICTS[] = {
    /* The form of the dict. */
    {TEXT(""), "malformed at its byte 0: '{' is expected"},
    {TEXT("\n"), "malformed at its byte 1: '{' is expected"},
    {TEXT("'descr'\n"), "malformed at its byte 0: '{' is expected"},
    {TEXT("[]\n"), "'{' is expected"},
    {TEXT("{\n"), "malformed at its byte 2: a string is expected"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), \n"), "a string is expected"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)\n"), "',' or '}' is expected"},
    {TEXT("{'descr': '<f4' 'fortran_order': False, 'shape': (3, 4)}\n"), "',' or '}' is expected"},
    {TEXT("{,}\n"), "a string is expected"},
    {TEXT("{'descr': '<f4',, 'fortran_order': False, 'shape': (3, 4)}\n"), "a string is expected"},
    {TEXT("{descr: '<f4'}\n"), "a string is expected"},
    {TEXT("{'descr' '<f4'}\n"), "':' is expected after a key"},
    {TEXT("{'descr\n"), "a string is not closed"},
    {TEXT("{'de\\x73cr': '<f4'}\n"), "a string is not closed, or has a backslash"},
    {TEXT("{'descr\": 1}\n"), "a string is not closed"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x\n"),
     "text follows the dict"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\0\n"),
     "text follows the dict"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }}\n"),
     "text follows the dict"},
    {TEXT("{'descr': '<f4', \0'fortran_order': False, 'shape': (3, 4), }\n"),
     "a string is expected"},
    /* Keys. */
    {TEXT("{}\n"), "lacks the key 'descr'"},
    {TEXT("{'fortran_order': False, 'shape': (3, 4), }\n"), "lacks the key 'descr'"},
    {TEXT("{'descr': '<f4', 'shape': (3, 4), }\n"), "lacks the key 'fortran_order'"},
    {TEXT("{'descr': '<f4', 'fortran_order': False}\n"), "lacks the key 'shape'"},
    {TEXT("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}\n"),
     "repeats the key 'descr'"},
    {TEXT("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'shape': (3, 4)}\n"),
     "repeats the key 'shape'"},
    {TEXT("{'fortran_order': False, 'fortran_order': False}\n"), "repeats the key 'fortran_order'"},
    {TEXT("{'descr': '<f4', 'order': 1}\n"), "unknown key, 'order'"},
    {TEXT("{'': 1}\n"), "unknown key, ''"},
    {TEXT("{'descr ': 1}\n"), "unknown key, 'descr '"},
    {TEXT("{'a\x1b[31m\x00\xff': 1}\n"), "unknown key, 'a\\x1b[31m\\x00\\xff'"},
    {TEXT("{'" HUNDRED "': 1}\n"), "ffff...'"},
    /* dtypes. */
    {WITH_DESCR("'<f16'"), "dtype is '<f16' (float128)" WHAT_IS_TAKEN},
    {WITH_DESCR("'>f4'"), "dtype is '>f4' (big-endian float32); --cast converts it"},
    {WITH_DESCR("'>f8'"), "dtype is '>f8' (big-endian float64); --cast converts it"},
    {WITH_DESCR("'>V2'"), "dtype is '>V2' (big-endian bfloat16); --cast converts it"},
    {WITH_DESCR("'>c16'"), "dtype is '>c16' (big-endian complex128); --cast converts it"},
    {WITH_DESCR("'>i4'"), "dtype is '>i4' (big-endian int32)" WHAT_IS_TAKEN},
    {WITH_DESCR("'<c32'"), "dtype is '<c32' (complex256)" WHAT_IS_TAKEN},
    {WITH_DESCR("'|V4'"), "dtype is '|V4' (raw bytes)" WHAT_IS_TAKEN},
    {WITH_DESCR("'bfloat'"), "dtype is 'bfloat'" WHAT_IS_TAKEN},
    {WITH_DESCR("'<i4'"), "dtype is '<i4' (int32)" WHAT_IS_TAKEN},
    {WITH_DESCR("'|u1'"), "dtype is '|u1' (uint8)" WHAT_IS_TAKEN},
    {WITH_DESCR("'|b1'"), "dtype is '|b1' (bool)" WHAT_IS_TAKEN},
    {WITH_DESCR("'|O'"), "dtype is '|O' (Python objects)" WHAT_IS_TAKEN},
    {WITH_DESCR("'<U12'"), "dtype is '<U12' (text)" WHAT_IS_TAKEN},
    {WITH_DESCR("'|S3'"), "dtype is '|S3' (byte strings)" WHAT_IS_TAKEN},
    {WITH_DESCR("'<M8[ns]'"), "dtype is '<M8[ns]' (dates)" WHAT_IS_TAKEN},
    {WITH_DESCR("'<m8[s]'"), "dtype is '<m8[s]' (time spans)" WHAT_IS_TAKEN},
    {WITH_DESCR("'<float32'"), "dtype is '<float32'" WHAT_IS_TAKEN},
    {WITH_DESCR("'<f4 '"), "dtype is '<f4 '" WHAT_IS_TAKEN},
    {WITH_DESCR("' <f4'"), "dtype is ' <f4'" WHAT_IS_TAKEN},
    {WITH_DESCR("''"), "dtype is ''" WHAT_IS_TAKEN},
    {WITH_DESCR("'<'"), "dtype is '<'" WHAT_IS_TAKEN},
    {WITH_DESCR("'\0'"), "dtype is '\\x00'" WHAT_IS_TAKEN},
    {WITH_DESCR("'<f\xc2\xb2\x07'"), "dtype is '<f\\xc2\\xb2\\x07'" WHAT_IS_TAKEN},
    {WITH_DESCR("[('x', '<f4'), (\"y]\", '<f4', (2,))]"),
     "dtype is a structured one, [('x', '<f4'), (\"y]\", '<f4', (2,))]" WHAT_IS_TAKEN},
    {WITH_DESCR("[('" HUNDRED "', '<f4')]"), "ffff..." WHAT_IS_TAKEN},
    {WITH_DESCR("[('\xe9', '<f4')]"), "[('\\xe9', '<f4')]"},
    {WITH_DESCR("('<f4', (2,))"), "dtype is a structured one, ('<f4', (2,))"},
    {TEXT("{'descr': [[[[((((\n"), "a bracket that is not closed"},
    {TEXT("{'descr': [('x\n"), "a string is not closed"},
    {WITH_DESCR("4"), "a string is expected"},
    {WITH_DESCR("None"), "a string is expected"},
    {WITH_DESCR("'<f4"), "',' or '}' is expected"},
    /* fortran_order. */
    {WITH_ORDER("true"), "fortran_order is neither True nor False"},
    {WITH_ORDER("0"), "fortran_order is neither True nor False"},
    {WITH_ORDER("'True'"), "fortran_order is neither True nor False"},
    {WITH_ORDER("Truest"), "fortran_order is neither True nor False"},
    {WITH_ORDER("Tru"), "fortran_order is neither True nor False"},
    {WITH_ORDER(""), "fortran_order is neither True nor False"},
    {TEXT("{'fortran_order':\n"), "fortran_order is neither True nor False"},
    /* Shapes. */
    {WITH_SHAPE("()"), "shape () has 0 dimensions; only matrices"},
    {WITH_SHAPE("(5,)"), "shape (5,) has 1 dimension; only matrices"},
    {WITH_SHAPE("(2, 3, 4, 5)"), "shape (2, 3, 4, 5) has 4 dimensions; only matrices"},
    {WITH_SHAPE("(-2, 3, 4)"), "shape (-2, 3, 4) has a negative dimension"},
    {WITH_SHAPE("(99999999999999999999, 3, 4)"), "is too large"},
    {WITH_SHAPE("(2097152, 2097152, 2097152)"), "is too large"},
    {WITH_SHAPE("(1,1,1,1,1)"), "shape (1,1,1,1,1) has 5 dimensions; only matrices"},
    {WITH_SHAPE("(-3, 4)"), "shape (-3, 4) has a negative dimension"},
    {WITH_SHAPE("(3, -4)"), "shape (3, -4) has a negative dimension"},
    {WITH_SHAPE("(-99999999999999999999, 0)"), "has a negative dimension"},
    {WITH_SHAPE("(9223372036854775807, 1)"), "shape (9223372036854775807, 1) is too large"},
    {WITH_SHAPE("(1, 9223372036854775808)"), "shape (1, 9223372036854775808) is too large"},
    {WITH_SHAPE("(18446744073709551617, 1)"), "is too large"},
    {WITH_SHAPE("(1, 99999999999999999999999999)"), "is too large"},
    {WITH_SHAPE("(0, 9223372036854775807)"), "is too large"},
    {WITH_SHAPE("(2305843009213693952, 1)"), "is too large"},
    {WITH_SHAPE("(4294967296, 4294967296)"), "is too large"},
    {WITH_SHAPE("(2147483648, 1073741824)"), "is too large"},
    {TEXT("{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1152921504606846976), }\n"),
     "is too large"},
    {WITH_SHAPE("5"), "shape is not a tuple"},
    {WITH_SHAPE("(5)"), "shape is not a tuple"},
    {WITH_SHAPE("[3, 4]"), "shape is not a tuple"},
    {WITH_SHAPE("(,)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3,,4)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3 4)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3.0, 4)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3, 0x4)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3, 4LL)"), "',' or ')' is expected in shape"},
    {WITH_SHAPE("(3, 04)"), "a number with a leading zero"},
    {WITH_SHAPE("(3, '4')"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, True)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, --4)"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, (4))"), "not a tuple of whole numbers"},
    {WITH_SHAPE("(3, 4"), "not a tuple of whole numbers"},
    {TEXT("{'shape': (3, 4\n"), "',' or ')' is expected in shape"},
    {TEXT("{'shape': (3,\n"), "not a tuple of whole numbers"},
    {TEXT("{'shape':\n"), "shape is not a tuple"},
};

/* What a dtype is taken for, also without a byte order. */
static const struct {
    const char *descr;
    xgemm_type type;
} ACCEPTED_TYPES[] = {
    {"<f2", XGEMM_F16},       {"=f4", XGEMM_F32},     {"f8", XGEMM_F64},
    {"<V2", XGEMM_BF16},      {"|V2", XGEMM_BF16},    {"V2", XGEMM_BF16},
    {"bfloat16", XGEMM_BF16}, {"float32", XGEMM_F32}, {"complex128", XGEMM_C64},
    {"<c8", XGEMM_C32},       {"c16", XGEMM_C64},     {"<c16", XGEMM_C64},
    {"f", XGEMM_F32},         {"single", XGEMM_F32},  {"<d", XGEMM_F64},
    {"double", XGEMM_F64},    {"e", XGEMM_F16},       {"half", XGEMM_F16},
    {"F", XGEMM_C32},         {"cdouble", XGEMM_C64},
};

START_TEST(accepts_type)
{
    char text[128];
    npy_header header;

    snprintf(text, sizeof(text), "{'descr': '%s', 'fortran_order': False, 'shape': (3, 4), }\n",
             ACCEPTED_TYPES[_i].descr);
    ck_assert_msg(npy_parse_dict(text, strlen(text), 0, &header, message, sizeof(message)) == 0,
                  "%s", message);
    ck_assert_int_eq(header.type, ACCEPTED_TYPES[_i].type);
    ck_assert(!header.big_endian && !header.is_text);
}
END_TEST

/* One dimension is taken where it is asked for. */
START_TEST(accepts_vector)
{
    static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }\n";
    npy_header header;

    ck_assert_int_eq(npy_parse_dict(text, sizeof(text) - 1, NPY_VECTOR, &header, NULL, 0), 0);
    ck_assert(header.is_vector && !header.is_batch);
    ck_assert_int_eq(header.rows, 1);
    ck_assert_int_eq(header.columns, 5);
    ck_assert_int_eq(header.batch, 1);
}
END_TEST

START_TEST(refuses_dict)
{
    const struct refused_dict *refused = &REFUSED_DICTS[_i];
    npy_header header = {.rows = 7, .columns = 7, .fortran_order = true, .data_offset = 7};
    /* A copy of the exact size, so that a sanitizer sees a read beyond it. */
    char *text = malloc(refused->size > 0 ? refused->size : 1);

    memcpy(text, refused->text, refused->size);
    ck_assert_msg(npy_parse_dict(text, refused->size, 0, &header, message, sizeof(message)) == -1,
                  "taken: %s", refused->text);
    assert_sentence(message, refused->sentence);
    ck_assert(header.rows == 0 && header.columns == 0 && !header.fortran_order);
    free(text);
}
END_TEST

START_TEST(refuses_dict_in_file)
{
    const struct refused_dict *refused = &REFUSED_DICTS[_i];

    write_npy_file(in_folder("dict.npy"), 1 + _i % 3, refused->text, refused->size, 48);
    assert_refused(in_folder("dict.npy"), refused->sentence);
}
END_TEST

START_TEST(keeps_to_size_of_message)
{
    static const char text[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 4), }\n";
    npy_header header;

    ck_assert_int_eq(npy_parse_dict(text, sizeof(text) - 1, 0, &header, NULL, 0), -1);
    ck_assert_int_eq(npy_parse_dict(text, sizeof(text) - 1, 0, &header, message, sizeof(message)),
                     -1);
    for (size_t size = 1; size <= strlen(message) + 2; size++) {
        char *small = malloc(size);

        memset(small, 'x', size);
        ck_assert_int_eq(npy_parse_dict(text, sizeof(text) - 1, 0, &header, small, size), -1);
        ck_assert_uint_eq(strlen(small), size <= strlen(message) ? size - 1 : strlen(message));
        if (size > strlen(message))
            ck_assert_str_eq(small, message);
        else if (size > 3)
            ck_assert_str_eq(small + size - 4, "...");
        free(small);
    }
}
END_TEST

void add_dict_cases(Suite *suite)
{
    TCase *cases = add_case(suite, "dict");
    tcase_add_loop_test(cases, accepts_dict, 0, COUNT(ACCEPTED_DICTS));
    tcase_add_loop_test(cases, accepts_type, 0, COUNT(ACCEPTED_TYPES));
    tcase_add_test(cases, accepts_vector);
    tcase_add_loop_test(cases, refuses_dict, 0, COUNT(REFUSED_DICTS));
    tcase_add_loop_test(cases, refuses_dict_in_file, 0, COUNT(REFUSED_DICTS));
    tcase_add_test(cases, keeps_to_size_of_message);
}
