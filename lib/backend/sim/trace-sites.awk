# SPDX-License-Identifier: BSD-3-Clause
#
# Assembly of the instrumented kernels, from the compiler, to the assembly that
# is built into the library:
# - the sanitizer's hooks get our names, so that they never meet a real runtime;
# - each call, also of the shim's own hook (xg_trace_access), passes the address
#   of its site's record in the section xg_sites, which has the file, line and
#   source text, so that a stripped library still knows them;
# - the arrays in shared memory go into xg_objects with their names;
# - debug sections, which hold paths, and the sanitizer's start-up go.
# Set SITE_ARGUMENT to the instructions, with %d for the site's number in this
# file, that load the second argument register with the address of .Lxg_site%d:
# a call may change it, and no hook had a use for it.

BEGIN { count = 0 }

# A source file's lines, without their indentation, ready for .string.
function read_source(number,    text, at) {
    at = 0
    while ((getline text < paths[number]) > 0) {
        sub(/^[ \t]+/, "", text)
        gsub(/\\/, "\\\\", text)
        gsub(/"/, "\\\"", text)
        source[number, ++at] = text
    }
    close(paths[number])
}

function base_name(path) {
    sub(/.*\//, "", path)
    return path
}

# .file NUMBER ["DIRECTORY"] "NAME"
/^[ \t]*\.file[ \t]+[0-9]+/ {
    split($0, quoted, "\"")
    number = $2
    name = quoted[2]
    if (4 in quoted && quoted[4] != "")
        name = quoted[4]
    files[number] = base_name(name)
    paths[number] = name
    if (number + 0 > last_file)
        last_file = number + 0
    next
}
/^[ \t]*\.file/ { next }

# .loc FILE LINE COLUMN ...
/^[ \t]*\.loc[ \t]/ {
    file = $2
    line = $3
    next
}

# A constant that is a part of another one: stands among the debug sections.
/^[ \t]*\.set[ \t]+\.LC/ { print; next }

/^[ \t]*\.section[ \t]+\.(debug_|init_array|ctors)/ { skipping = 1; next }
/^[ \t]*\.(section|text|data|bss)/ { skipping = 0 }
skipping { next }

# The arrays in shared memory: each has its size after its section's name.
/^[ \t]*\.section[ \t]/ { shared = index($0, "xg_shared") > 0 }
/^[ \t]*\.(text|data|bss)/ { shared = 0 }
shared && /^[ \t]*\.size[ \t]/ {
    sub(/^[ \t]*\.size[ \t]+/, "")
    split($0, parts, /,[ \t]*/)
    objects++
    object_symbol[objects] = parts[1]
    object_size[objects] = parts[2]
    next
}

/(call|jmp|bl?)[ \t].*(__(tsan|sanitizer_cov)_|xg_trace_access)/ {
    gsub(/__tsan_/, "xg_trace_")
    gsub(/__sanitizer_cov_trace_pc/, "xg_trace_block")
    printf "\t" SITE_ARGUMENT "\n", count, count
    print
    site_file[count] = file
    site_line[count] = line
    used[file] = 1
    count++
    next
}
{ print }

END {
    print "\t.section\txg_sites,\"a\""
    print "\t.balign\t4"
    for (i = 0; i < count; i++) {
        # Relative to the record, so that it needs no relocation at load time.
        printf ".Lxg_site%d:\n\t.long\t.Lxg_file%d - .\n", i, site_file[i]
        printf "\t.long\t%d\n", site_line[i]
        printf "\t.long\t.Lxg_text%d_%d - .\n", site_file[i], site_line[i]
    }
    print "\t.section\txg_objects,\"a\""
    print "\t.balign\t4"
    for (i = 1; i <= objects; i++) {
        printf "\t.long\t%s - .\n", object_symbol[i]
        printf "\t.long\t.Lxg_object%d - .\n", i
        printf "\t.long\t%s\n", object_size[i]
    }
    print "\t.section\t.rodata"
    for (number = 1; number <= last_file; number++)
        if (number in used) {
            printf ".Lxg_file%d:\n\t.string\t\"%s\"\n", number, files[number]
            read_source(number)
        }
    for (i = 0; i < count; i++)
        if (!((site_file[i], site_line[i]) in written)) {
            written[site_file[i], site_line[i]] = 1
            printf ".Lxg_text%d_%d:\n\t.string\t\"%s\"\n", site_file[i], site_line[i], \
                source[site_file[i], site_line[i]]
        }
    for (i = 1; i <= objects; i++) {
        name = object_symbol[i]
        sub(/\..*/, "", name)
        printf ".Lxg_object%d:\n\t.string\t\"%s\"\n", i, name
    }
    print "\t.section\t.note.GNU-stack,\"\",%progbits"
}
