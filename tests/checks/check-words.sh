#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Words that the project had of its own do not come back where the field has one, but for those of
# known-words.txt, an entry for a file and a pattern. Only what is surely meant in the old sense is
# looked for: most of these words are plain English otherwise. Public names stay: the field and
# column shared_tiles, and XGEMM_SIM's older word processors=N; so does a book's title. "shared" and
# an expression of TILE_ are two words.
#
# usage: check-words.sh [--update]

# shellcheck source=tests/checks/known.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/checks/known.sh"

# The word to say, and extended regular expressions over lower-case text in which anything but
# letters and digits is one "_", also at both ends.
cat >"$work/words" <<'END'
TMA                        _copy_engines?_
K-major                    _along_k_
K-major                    _k_along_
M-major/N-major            _(gemv|tma|skinny1|k|wait)_across_
M-major/N-major            _lines_((that_)?lie_)?side_by_side_
row/column                 _lines_of_(a|b|op)_
row/column                 _(a|b|whole|other|own)_lines_
leading-dimension          _other_step_
entry-points               _doors?_
tile,block                 _pieces?_
scalar-load                _word_by_word_
scalar-load                _by_words_
scalar-load                _(pipelined|unaligned|in)_words_
vectorized-load            _fours_
multiprocessors            _processors_
through-shared-memory      _not_turned_
through-shared-memory      _(c|is|are|be|fp16|xg|store|sums|tile)_turned_
producer                   _(fp16|the|is|who|warps?)_feeds?_
producer                   _feeders?_
accumulators               _his_sums_
split                      _split_late(r)?_
split                      _late_(split|lines|rows)_
split-FP16                 _(fp|bf)16_parts_
split-FP16                 _by_parts_
pointer-arrays             _(from|of|as|by|takes|in)_lists_
batch                      _products_together_
batch                      _(walked|computed|launched)_together_
stream-K-tiles             _shared_tiles?_
in-flight                  _asked_for_at_once_
resident                   _held_at_once_
axpby                      _blend(s|ed)?_
GEMV                       _skinny1_
cost                       _xg_speeds?_
vector-clock               _news_of_
END
sources lib bin include man tests bench shim -- c h cu inc sh awk py am def txt 1 3 7 |
    grep -v -e '^tests/checks/check-words.sh$' -e '^tests/checks/known-' >"$work/files"
for file in README.md PACKAGERS.md; do
    echo "$file"
done >>"$work/files"
# shellcheck disable=SC2016 # fields of awk
(cd "$srcdir" && xargs awk -v words="$work/words" '
    BEGIN {
        while ((getline line < words) > 0) {
            split(line, field, / +/)
            say[++count] = field[1]
            pattern[count] = field[2]
            any = any (count > 1 ? "|" : "") field[2]
        }
    }
    # How often; a "_" may be the end of one and the beginning of the next.
    function matches(text, regex,    n)
    {
        for (n = 0; match(text, regex); n++)
            text = substr(text, RSTART + RLENGTH - 1)
        return n
    }
    {
        text = tolower($0)
        gsub(/massively parallel processors/, "", text)
        gsub(/processors(=| ns = ns )/, "", text)
        gsub(/shared(,| \+) tile_/, "", text)
        if (FILENAME !~ /^lib\// || FILENAME ~ /^lib\/api\//)
            gsub(/shared_tiles/, "", text)
        text = "_" text "_"
        gsub(/[^a-z0-9]+/, "_", text)
        if (text !~ any)
            next
        for (i = 1; i <= count; i++)
            if (n = matches(text, pattern[i]))
                found[FILENAME ": " pattern[i] " (say " say[i] ")"] += n
    }
    END { for (key in found) print found[key], key }' <"$work/files") |
    compare known-words.txt "${1-}"
