# SPDX-License-Identifier: BSD-3-Clause
# The same PTX in about 0.7 of the bytes. The driver reads all of them for each load, also of a kernel
# that is in its cache: 3.5 ms a megabyte on an H200. Registers get names of one length, two letters
# and two digits, in place of % and a number; comments and blanks go.

BEGIN { UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"; LETTERS = "abcdefghijklmnopqrstuvwxyz" UPPER }

# Number n; not the name of an instruction or a directive, which are in lower case.
function prefix(n) {
    if (n >= 26 * 52)
        exit failed = 1
    return substr(UPPER, int(n / 52) + 1, 1) substr(LETTERS, n % 52 + 1, 1)
}

# ".reg .f32 %f<N>;": the prefixes for registers 0 to N - 1, a hundred each.
function declare(line,    class, type, count, i, text) {
    match(line, /%[a-z]+</)
    class = substr(line, RSTART + 1, RLENGTH - 2)
    count = int((substr(line, RSTART + RLENGTH) + 99) / 100)
    type = substr(line, 1, RSTART - 1)
    first[class] = used
    for (i = 0; i < count; i++)
        text = text (i ? "," : "") prefix(used + i) "<100>"
    used += count
    return type text ";"
}

# What stands between one % and the next: "f12, " or "tid.x;".
function renamed(part,    class, number) {
    if (!match(part, /^[a-z]+[0-9]+/))
        return "%" part
    class = number = substr(part, 1, RLENGTH)
    sub(/[0-9]+$/, "", class)
    if (!(class in first))
        return "%" part
    number = substr(number, length(class) + 1)
    return prefix(first[class] + int(number / 100)) number % 100 substr(part, RLENGTH + 1)
}

/^[.a-z ]*\.(entry|func)/ { # names are the function's own
    for (class in first)
        delete first[class]
    used = 0
}

{
    sub(/\/\/.*/, "")
    gsub(/[ \t]+/, " ")
    sub(/^ /, "")
    sub(/ $/, "")
    gsub(/, /, ",")
    gsub(/\$L__BB/, "$")
}

$0 == "" { next }

/^\.reg \.[a-z0-9]+ %[a-z]+<[0-9]+>;$/ {
    print declare($0)
    next
}

{
    count = split($0, parts, "%")
    line = parts[1]
    for (i = 2; i <= count; i++)
        line = line renamed(parts[i])
    print line
}

END { exit failed }
