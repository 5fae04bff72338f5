# SPDX-License-Identifier: BSD-3-Clause
# Turns catalog.txt into C. A row that is not as the head of that file says ends
# the run with the row's line number and exit status 1.

function trim(text)
{
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function wrong(what)
{
    print FILENAME ":" FNR ": " what | "cat 1>&2"
    close("cat 1>&2")
    failed = 1
    exit 1
}

function check_number(column, text)
{
    if (text !~ pattern[column])
        wrong(title[column] " is \"" text "\"; it must be " kind[column])
}

# Blanks around commas and at the ends go; the first name must be a new one.
function names_of(text,  count, list, n, all)
{
    count = split(text, list, ",")
    for (n = 1; n <= count; n++) {
        list[n] = trim(list[n])
        if (list[n] == "" || length(list[n]) > 63)
            wrong("a name is empty or longer than 63 characters")
        all = all (n > 1 ? "," : "") list[n]
    }
    if (count == 0)
        wrong("there is no name")
    if (tolower(list[1]) in seen)
        wrong("\"" list[1] "\" is there already, in line " seen[tolower(list[1])])
    seen[tolower(list[1])] = FNR
    return all
}

BEGIN {
    FS = ";"
    rows = failed = 0
    COLUMNS = split("names;cc;SMs;MHz;GB;bus;GB/s;L2;FP32;TF32;FP16;BF16;source", title, ";")
    for (i = 2; i < COLUMNS; i++) {
        pattern[i] = "^[0-9]+(\\.[0-9]+)?$"
        kind[i] = "a number, 0 if unknown"
    }
    pattern[2] = "^[1-9][0-9][0-9]?$"
    kind[2] = "10 * major + minor"
    pattern[3] = "^[1-9][0-9]*$"
    kind[3] = "a whole number"
    pattern[6] = "^[0-9]+$"
    kind[6] = "a whole number, 0 if unknown"
    print "/* Made by make from lib/device/catalog.txt. */"
    print "#include \"device/catalog.h\"\n"
    print "const xg_catalog_row xg_catalog[] = {"
}

{ sub(/\r$/, "") }
/^[ \t]*(#|$)/ { next }

{
    if (NF != COLUMNS)
        wrong("there are " NF " columns; there must be " COLUMNS)
    if ($0 ~ /["\\]/ || $0 ~ /[^ -~\t]/)
        wrong("a quotation mark, a backslash or a character that is not ASCII")
    for (i = 1; i <= COLUMNS; i++)
        field[i] = trim($i)
    for (i = 2; i < COLUMNS; i++)
        check_number(i, field[i])
    if (field[COLUMNS] == "" || length(field[COLUMNS]) > 255)
        wrong("the source is empty or longer than 255 characters")

    printf "    {\"%s\", %s, %s, %s, %s, %s, %s, %s,\n", names_of(field[1]), field[2], field[3],
        field[4], field[5], field[6], field[7], field[8]
    # The peak in FP32 (column 9) is for the test alone.
    printf "     %s, %s, %s, \"%s\"},\n", field[10], field[11], field[12], field[13]
    rows++
}

END {
    if (failed)
        exit 1
    if (!rows)
        wrong("there are no rows")
    print "};\n"
    print "const int xg_catalog_count = " rows ";"
}
