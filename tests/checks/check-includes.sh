#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The rooms of lib/ are layers: a file includes only from its own room and from rooms below it, and
# no two modules include one another, directly or by way of others. A module is x.c with x.h. Of
# backend/, each subfolder is a room that uses backend/ and base/ alone, cuda/ without host.h; and
# rooms above know of the simulator what its simulator.h says.

# Rooms, the lowest first.
layers='base problem backend device plan families tuning planner source api probes'

cd "${srcdir:-$(dirname "$0")/../..}/lib" || exit 1
find . -name '*.[ch]' -o -name '*.inc' -o -name '*.cu' | LC_ALL=C sort |
LC_ALL=C awk -v layers="$layers" '
# The room of a file: the first folder of its path, or of backend/ the first two.
function room_of(path,    part, parts) {
    parts = split(path, part, "/")
    return part[1] == "backend" && parts > 2 ? part[1] "/" part[2] : part[1]
}
function layer_of(room) {
    sub(/\/.*/, "", room)
    return room in number ? number[room] : 0
}
function module_of(path) {
    sub(/\.[ch]$/, "", path)
    return path
}
# Where an include leads: beside the file, or from lib/; "" if to none of our files.
function target_of(from, name,    beside) {
    beside = from
    sub(/[^\/]*$/, "", beside)
    if ((beside name) in is_file)
        return beside name
    return name in is_file ? name : ""
}
function may_include(from, to, file) {
    if (from == to)
        return 1
    if (from ~ /^backend\//)
        return to == "base" || (to == "backend" && (from != "backend/cuda" || file !~ /host\.h$/))
    if (to == "backend/sim" && file !~ /\/simulator\.h$/)
        return 0
    return layer_of(to) < layer_of(from)
}
function complain(text) {
    print text
    errors++
}
# Depth first; modules on the path are 1, those that are done 2.
function visit(module,    i, next_module) {
    mark[module] = 1
    path[++depth] = module
    for (i = 1; i <= edges[module]; i++) {
        next_module = edge[module, i]
        if (mark[next_module] == 1)
            report_circle(next_module)
        else if (!mark[next_module])
            visit(next_module)
    }
    depth--
    mark[module] = 2
}
function report_circle(start,    i, text) {
    for (i = depth; path[i] != start; i--)
        ;
    text = "circle of includes:"
    for (; i <= depth; i++)
        text = text " lib/" path[i] " ->"
    complain(text " lib/" start)
}
BEGIN {
    count = split(layers, list, " ")
    for (i = 1; i <= count; i++)
        number[list[i]] = i
}
{
    file = substr($0, 3)
    files[++total] = file
    is_file[file] = 1
}
END {
    for (i = 1; i <= total; i++) {
        file = files[i]
        line = 0
        while ((getline text < file) > 0) {
            line++
            if (text ~ /^\/\* Made by make/) # in a build in the source folder
                break
            if (text !~ /^[ \t]*#[ \t]*include[ \t]*"/)
                continue
            split(text, quoted, "\"")
            to = target_of(file, quoted[2])
            if (to == "")
                continue
            if (!may_include(room_of(file), room_of(to), to))
                complain("lib/" file ":" line ": " room_of(file) "/ must not include " to)
            from_module = module_of(file)
            to_module = module_of(to)
            if (from_module != to_module && !((from_module, to_module) in has_edge)) {
                has_edge[from_module, to_module] = 1
                edge[from_module, ++edges[from_module]] = to_module
            }
        }
        close(file)
    }
    for (i = 1; i <= total; i++)
        if (!mark[module_of(files[i])])
            visit(module_of(files[i]))
    printf "check-includes: %d files, %d wrong\n", total, errors
    exit errors > 0
}'
