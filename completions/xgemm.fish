# SPDX-License-Identifier: BSD-3-Clause
# Completion for xgemm(1), for fish 3 or later.
#
# Commands, options, kernels, GPUs, probes and kinds of data are asked of the utility that is
# being completed, so that they are those of its version.

# The column $argv[1] of a table as CSV.
function __xgemm_column
    awk -F, -v name=$argv[1] '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
        column && $column != "" { gsub(/"/, "", $column); print $column }' | sort -u
end

function __xgemm_commands
    $argv[1] --help 2>/dev/null | awk '
        /^Commands:/ { on = 1; next }
        on && !/^ / { exit }
        on { name = $1; $1 = ""; sub(/^ /, ""); print name "\t" $0 }'
end

# The options in a help text: a line for each name, with what the option takes and what it does.
function __xgemm_options
    awk '/^ +-/ {
        sub(/^ +/, "")
        text = $0
        sub(/.*  +/, "", text)
        sub(/  .*/, "")
        gsub(/,/, "")
        takes = $NF ~ /^-/ ? "" : $NF
        for (i = 1; i <= NF; i++)
            if ($i ~ /^-/) print $i "\t" takes "\t" text
    }'
end

# GPUs of the catalogue: names, the models in them (A100), compute capabilities.
function __xgemm_catalogue
    set -l catalogue ($argv[1] devices --catalog --csv 2>/dev/null)
    set -l names (printf '%s\n' $catalogue | __xgemm_column name)
    printf '%s\n' $names
    string match -r '^[A-Z]{1,2}[0-9][0-9A-Z]*(?= )' -- $names | sort -u
    printf '%s\n' $catalogue | __xgemm_column compute_capability | string replace . '' |
        string replace -r '^' sm_
end

# The ordinals of the GPUs that Linux shows.
function __xgemm_ordinals
    for file in /dev/nvidia*
        string match -r '(?<=nvidia)[0-9]+$' -- $file
    end
end

# Files whose names begin as $argv[1], of suffix $argv[2] where there is one, and folders.
function __xgemm_files
    if set -q argv[2]
        __fish_complete_path $argv[1] | string match -r '.*(?:/|\\'(string join '|\\' -- $argv[2..])')(?:\t.*)?$'
    else
        __fish_complete_path $argv[1]
    end
end

# What option $argv[3] of command $argv[2] of utility $argv[1] may be given; $argv[4] is how the
# help says it.
function __xgemm_values
    switch $argv[3]
        case -d --device
            printf '%s\n' auto cpu sim
            __xgemm_ordinals
        case --gpu
            __xgemm_catalogue $argv[1]
        case --kernel
            switch $argv[2]
                case explain # one of FILE.cu, none of the library's
                    return
                case multiply
                    echo auto
                case occupancy
                case verify
                    echo all
                case '*'
                    printf '%s\n' auto all
            end
            $argv[1] kernels --csv 2>/dev/null | __xgemm_column name
        case --data
            printf '%s\n' all list
            $argv[1] $argv[2] --data list --csv 2>/dev/null | __xgemm_column kind
        case --math
            printf '%s\n' default strict tf32
        case --type --type-c
            printf '%s\n' f32 f64 f16 bf16 c32 c64
        case --activation
            printf '%s\n' none relu gelu gelu-tanh silu
        case --curve
            printf '%s\n' threads registers shared
        case --order
            printf '%s\n' row col
        case --transa --transb
            printf '%s\n' N T C
        case '*'
            string split '|' -- $argv[4] | string match -r '^[a-z].*'
    end
end

# Completes the word $argv[5], what option $argv[3] takes; the other arguments as above.
function __xgemm_argument
    if string match -q 'multiply FILE' -- "$argv[2] $argv[4]"
        __xgemm_files $argv[5] .npy .npz .mtx
    else if string match -q 'FILE*' -- $argv[4]
        __xgemm_files $argv[5] (string match -r '\..*' -- $argv[4])
    else if string match -q -r 'LIST|,' -- $argv[4]
        # The last name of a list with commas, the second of two kinds of data with a colon.
        set -l before (string match -r '.*[,:]' -- $argv[5])
        string replace -r '^' -- "$before" (__xgemm_values $argv[1..4])
    else
        __xgemm_values $argv[1..4]
    end
end

function __xgemm_operand
    switch $argv[2]
        case multiply
            __xgemm_files $argv[3] .npy .npz .mtx
        case kernels explain
            if test $argv[2] = explain
                __xgemm_files $argv[3] .cu
            end
            # What auto stands for depends on the math mode.
            if test $argv[2] = explain; and string match -q -- '--math*' $argv[4..-1]
                echo auto
            end
            $argv[1] kernels --csv 2>/dev/null | __xgemm_column name
        case probe
            # A utility without --list lists them where no name is given.
            begin
                $argv[1] probe --list --csv
                or $argv[1] probe --csv
            end 2>/dev/null | __xgemm_column name
        case devices
            __xgemm_ordinals
            __xgemm_catalogue $argv[1]
        case run
            complete -C "$argv[3]"
        case help
            __xgemm_commands $argv[1]
    end
end

# The index of the program among the words of "xgemm run" after those of the options that take the
# next word, which stand before "--" here.
function __xgemm_program
    set -l at (contains -i -- -- $argv)
    set -l taking $argv[1..(math $at - 1)]
    set -l words $argv[(math $at + 1)..-1]
    set at 3
    while set -q words[$at]
        switch $words[$at]
            case --
                set at (math $at + 1)
                break
            case '-*'
                contains -- $words[$at] $taking; and set at (math $at + 1)
            case '*'
                break
        end
        set at (math $at + 1)
    end
    echo $at
end

function __xgemm_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l utility (string replace -r '^~/' $HOME/ -- $words[1])
    if not set -q words[2]
        if string match -q -- '-*' $current
            $utility --help 2>/dev/null | __xgemm_options | string replace \t\t \t
        else
            __xgemm_commands $utility
        end
        return
    end

    set -l options ($utility $words[2] --help 2>/dev/null | __xgemm_options)
    if test $words[2] = run
        set -l program (__xgemm_program (string match -r '^\S+(?=\t[^\t[])' -- $options) -- $words)
        if set -q words[$program]
            complete -C (string join ' ' -- (string escape -- $words[$program..-1]) "$current")
            return
        end
    end
    # An option's argument may follow after "=" in the same word.
    set -l option $words[-1]
    set -l word $current
    set -l before ''
    if string match -q -- '--*=*' $current
        set option (string replace -r '=.*' '' -- $current)
        set word (string replace -r '^[^=]*=' '' -- $current)
        set before $option=
        # "[=FILE]" may follow in the same word alone.
        set options (string replace -r '\t\[=(.*?)\]\t' '\t$1\t' -- $options)
    end
    for line in $options
        set -l fields (string split \t -- $line)
        if test "x$fields[1]" = "x$option"; and string match -q -r '^[^[]' -- "$fields[2]"
            __xgemm_argument $utility $words[2] $option $fields[2] $word |
                string replace -r '^' -- $before
            return
        end
    end
    if string match -q -- '-*' $current
        string replace -r '\t.*\t' \t -- $options
    else
        __xgemm_operand $utility $words[2] "$current" $options
    end
end

complete -c xgemm -f -a '(__xgemm_complete)'
