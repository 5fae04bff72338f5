#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The completions for bash, zsh and fish: each shell that is here completes command lines with
# the file of completions/, and what it offers is compared with the utility's own help and lists.

topic=completions
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"
export XGEMM
COMPLETIONS=$srcdir/completions
FOUND=$work/found
export COMPLETIONS FOUND
TERM=dumb
export TERM

# ---- The shells ----
#
# Each driver completes the lines of the file "lines" and prints "== " and the line, then what is
# offered.

# bash gives its function words that are divided at "=" and ":".
cat >drive.bash <<'END'
. "$COMPLETIONS/xgemm"
kept=$'\001'
while IFS= read -r line; do
    words=${line//\\ /\\$kept}
    quoted=
    [[ $words == *\"* ]] && quoted=\"${words#*\"}
    read -r -a COMP_WORDS < <(sed 's/[=:]/ & /g' <<<"${words%%\"*}${quoted// /$kept}")
    COMP_WORDS=("${COMP_WORDS[@]//$kept/ }")
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _xgemm
    printf '%s\n' "== $line" "${COMPREPLY[@]}"
done <lines
END

# zsh completes in its line editor alone: an interactive one in a pseudo-terminal, whose compadd
# writes down what matches.
cat >setup.zsh <<'END'
PROMPT=
fpath=($COMPLETIONS $fpath)
autoload -Uz compinit
compinit -u -D
compadd()
{
    local -a found
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        builtin compadd -A found "$@"
        print -rl -- $found >>$FOUND
    fi
    builtin compadd "$@"
}
capture()
{
    _main_complete
    compstate[insert]=
    compstate[list]=
    print -r -- '#end' >>$FOUND
}
zle -C capture complete-word capture
bindkey '^I' capture
print -r -- '#end' >>$FOUND
END
cat >drive.zsh <<'END'
zmodload zsh/zpty zsh/zselect
wait_for_end()
{
    local unused i
    for i in {1..1200}; do
        grep -q '#end' $FOUND && return
        while zpty -r -t inner unused; do :; done
        zselect -t 5
    done
}
: >$FOUND
zpty inner zsh -f -i
zpty -w inner "source $PWD/setup.zsh"
wait_for_end
for line in "${(f)$(<lines)}"; do
    : >$FOUND
    zpty -w -n inner "$line"$'\t'
    wait_for_end
    print -r -- "== $line"
    grep -v '#end' $FOUND
    zpty -w -n inner $'\C-u'
done
zpty -d inner
END

cat >drive.fish <<'END'
source $COMPLETIONS/xgemm.fish
while read -l line
    echo "== $line"
    complete -C "$line" | string replace -r '\t.*' ''
end <lines
END

drive()
{
    case $1 in
    bash) bash --norc --noprofile drive.bash ;;
    zsh) zsh -f drive.zsh ;;
    fish) fish --no-config drive.fish ;;
    esac
}

works()
{
    case $1 in
    bash) bash -c '((BASH_VERSINFO[0] >= 4))' ;;
    zsh) zsh -fc 'zmodload zsh/zpty zsh/zselect' ;;
    fish) fish --no-config -c 'complete -C "true "' ;;
    esac >/dev/null 2>&1
}

# ---- The cases ----

# offers NAME LINE: what stands on the standard input, one a line, is all that "xgemm LINE" is
# completed with.
offers()
{
    printf '%s %s\n' "$XGEMM" "$2" >>lines
    case=$(wc -l <lines)
    printf '%s\n' "$1" >"name.$((case))"
    sed '/^$/d' | sort -u >"expected.$((case))"
}

words()
{
    printf '%s\n' "$@"
}

# names_in LIST COLUMN ARGUMENT...: a column of what a command prints as CSV.
names_in()
{
    column=$1
    shift
    "$XGEMM" "$@" --csv >table &&
        awk -F, -v column="$column" 'NR > 1 { gsub(/"/, "", $column); print $column }' table
}

mkdir folder bin
touch a.npy b.npy c.txt d.npz e.mtx old.json mine.cu mine.txt folder/inner.cu
printf '#!/bin/sh\n' >bin/only-here
chmod +x bin/only-here
PATH=$work/bin:$PATH

"$XGEMM" --help | awk '/^Commands:/ { on = 1; next } on && !/^ / { exit } on { print $1 }' >commands
offers 'commands' '' <commands
words --help --version | offers 'options of xgemm itself' '--'
while read -r command; do
    "$XGEMM" "$command" --help |
        sed -n 's/^  *\(-[A-Za-z], *\)\{0,1\}\(--[a-z][a-z0-9-]*\).*/\2/p' | offers "options of $command" "$command --"
done <commands
words -s | offers 'a short option' 'bench -s'
words --seed --shapes --size | offers 'options that begin alike' 'verify --s'

names_in 1 kernels >kernels.list
{ "$XGEMM" explain --help | grep -q -e --math && words auto; cat kernels.list && words mine.cu folder; } |
    offers 'kernels to explain' 'explain '
words mine.cu | offers 'a file to explain' 'explain mi'
words inner.cu | offers 'a file to explain in a folder' 'explain folder/'
words | offers 'no other file to explain' 'explain old.js'
words | offers 'no kernel of the library in a file' 'explain mine.cu --kernel '
offers 'kernels to list' 'kernels naive ' <kernels.list
{ words auto all && cat kernels.list; } | offers 'kernels to measure' 'bench --kernel '
{ words auto all && cat kernels.list; } | offers 'kernels after =' 'bench --kernel='
words vectorized | offers 'a kernel of a list' 'plan --kernel naive,vec'
words vectorized | offers 'a kernel' 'occupancy --kernel vec'
{ words auto && cat kernels.list; } | offers 'a kernel to multiply with' 'multiply a.npy --kernel '

names_in 2 devices --catalog >gpus
{ words A100 && grep '^A100' gpus; } | offers 'GPUs' 'plan --gpu A100'
{ words A100 && grep '^A100' gpus; } | offers 'GPUs after =' 'explain naive --gpu=A100'
grep '^A100 P' gpus | offers 'a GPU with a blank' 'occupancy --gpu A100\ P'
grep '^GeForce RTX 40' gpus | offers 'a GPU with quotation marks' 'kernels --gpu "GeForce RTX 40'
words sm_90 | offers 'a compute capability' 'plan --gpu sm_9'
{ words H200 && grep '^H200' gpus; } | offers 'a GPU to describe' 'devices H200'

names_in 1 bench --data list | grep '^so' >kinds
offers 'kinds of data' 'bench --data so' <kinds
offers 'kinds of data for B' 'verify --data relu:so' <kinds
offers 'kinds of data after =, in a list' 'bench --data=relu,relu:so' <kinds
words default strict tf32 | offers 'math modes' 'multiply --math '
words f32 f64 f16 bf16 c32 c64 | offers 'types' 'bench --type '
words f16 f32 f64 | offers 'a type after another' 'verify --type bf16,f'
words f16 f32 f64 | offers 'a type of C' 'plan --type-c f'
words gelu gelu-tanh | offers 'activations' 'plan --activation gel'
words threads registers shared | offers 'axes of a curve' 'occupancy --curve '
words row col | offers 'orders' 'explain naive --order '
words N T C | offers 'transposes' 'plan --transa '
words threads registers shared | offers 'alternatives in the help' 'occupancy --curve '
words cublas | offers 'a word in the help' 'bench --compare '
words sim | offers 'devices' 'verify --device s'
{ names_in 1 probe --list || names_in 1 probe; } 2>/dev/null | grep '^co' | offers 'probes' 'probe co'

words a.npy b.npy d.npz e.mtx folder | offers 'matrices' 'multiply '
words a.npy b.npy d.npz e.mtx folder | offers 'an output' 'multiply -o '
words old.json folder | offers 'results' 'bench --from='
words folder | offers 'a file of any kind' 'plan --shapes fol'

words only-here | offers 'a program' 'run only-'
words only-here | offers 'a program after an option without its file' 'run --log only-'
words only-here | offers 'a program after the file of an option' 'run --log=old.json only-'
words only-here | offers 'a program after options' 'run --math strict -q -- only-'
words old.json | offers 'the file of an option that may go without' 'run --log=old'
words tf32 | offers 'a value before the program' 'run --log --math tf'
words | offers 'no options after the program' 'run only-here --'
words | offers 'no options after -- and the program' 'run --math=tf32 -- only-here --'
words old.json | offers 'a file for the program' 'run --log only-here old'
words old.json | offers 'a file for an option of the program' 'run --log=x only-here --math old'

words | offers 'a number' 'bench -m '
words | offers 'an unknown command' 'nonsense --'

# Paths, and what stands before the word that is completed, are cut off: zsh offers the word alone,
# fish the whole argument.
answer()
{
    LC_ALL=C awk -v number="$1" '/^== / { at++; next } at == number && $0 != ""' answers |
        sed 's/\\//g; s/^.*[,:=]//; s|/$||; s|.*/||' | sort -u
}

# The folder must be what the files above stand in, not these.
mkdir place
mv a.npy b.npy c.txt d.npz e.mtx old.json mine.cu mine.txt folder place
for shell in bash zsh fish; do
    if ! have "$shell" || ! works "$shell"; then
        skip "$shell" "no $shell that this can drive"
        continue
    fi
    cp lines "drive.$shell" place
    [ "$shell" != zsh ] || cp setup.zsh place
    (cd place && drive "$shell" >../answers 2>../err </dev/null
        rm -f lines drive.* setup.zsh)
    if [ -s err ]; then
        no "$shell: messages" "$(first_error)"
        continue
    fi
    case=1
    while [ -e "name.$case" ]; do
        answer "$case" >given
        name="$shell: $(cat "name.$case")"
        if difference=$(diff "expected.$case" given); then
            ok "$name"
        else
            no "$name" "$(printf '%s' "$difference" | grep '^[<>]' | head -n 4 | tr '\n' ' ')"
        fi
        case=$((case + 1))
    done
done

finish
