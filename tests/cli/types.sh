#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Element types, biases and activations of verify, bench and plan, on the CPU and the simulator.
# python3 adds cases where it is there.

topic=types
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

types='f32 f64 f16 bf16 c32 c64'
all=f32,f64,f16,bf16,c32,c64
cpu_kernels=$(kernels_of cpu | tr '\n' ' ')
cpu_count=$(kernels_of cpu | wc -l)

bench()
{
    run bench -d cpu --samples 1 --warm 0 --time 0 "$@"
}

# first_column NAME WORDS: of the rows of a CSV result.
first_column()
{
    got=$(sed -e 1d -e 's/,.*//' out | tr '\n' ' ')
    if ! ended 0 ''; then
        no "$1" "$why"
    elif [ "$got" != "$2 " ]; then
        no "$1" "$got instead of $2"
    else
        ok "$1"
    fi
}

# verified NAME ROWS ARGUMENT...: every row is ok.
verified()
{
    name=$1
    rows=$2
    shift 2
    run verify --csv "$@"
    if ! ended 0 ''; then
        no "$name" "$why"
    elif [ "$(grep -c ',ok$' out)" -ne "$rows" ]; then
        no "$name" "$(grep -c ',ok$' out) rows instead of $rows"
    else
        ok "$name"
    fi
}

test_verify()
{
    verified 'verify: every type on the CPU' $((6 * cpu_count)) -d cpu --quick --type $all -m 7 -n 5 -k 3
    verified 'verify: one kernel' 6 -d cpu --quick --type $all -m 7 -n 5 -k 3 --kernel reference
    first_column 'verify: the type is the first column' "$types"
    verified 'verify: one type has no column' "$cpu_count" -d cpu --quick --type c64 -s 9
    first_column 'verify: the kernel is the first column' "${cpu_kernels% }"
    verified 'verify: c64 in FP64 alone' 5 -d sim --quick --type c64 --math strict -m 70 -n 33 -k 17
    verified 'verify: c32 on the simulator, by real products, too' 8 -d sim --quick --type c32 -m 70 -n 33 -k 17
    verified 'verify: c32 on CUDA cores alone' 5 -d sim --quick --type c32 --math strict -m 70 -n 33 -k 17
    verified 'verify: c32 in TF32' 10 -d sim --quick --type c32 --math tf32 -m 70 -n 33 -k 17
    verified 'verify: f64 on the simulator, by residues, too' 6 -d sim --quick --type f64 -m 70 -n 33 -k 17
    verified 'verify: c64 on the simulator, by residues, too' 6 -d sim --quick --type c64 -m 70 -n 33 -k 17
    verified 'verify: f64 in FP64 alone' 5 -d sim --quick --type f64 --math strict -m 70 -n 33 -k 17
    verified 'verify: f16 on the simulator, with tensor cores' 10 \
        -d sim --quick --type f16 -m 70 -n 33 -k 17
    verified 'verify: C of f32' 10 -d sim --quick --type bf16 --type-c f32 -m 70 -n 33 -k 17
    verified 'verify: C of the other 16-bit type' 1 -d cpu --quick --type f16 --type-c bf16 -s 9 \
        --kernel reference
    for activation in relu gelu gelu-tanh silu; do
        verified "verify: $activation" $((2 * cpu_count)) -d cpu --quick --type f32,bf16 -s 9 --bias \
            --activation $activation
    done
    verified 'verify: a bias for each row' $((3 * cpu_count)) -d cpu --quick --type f64,c32,f16 -m 5 -n 9 -k 3 \
        --bias --bias-per-row
    verified 'verify: kinds of data' 6 -d cpu --quick --kernel reference --type $all -s 9 \
        --data normal,softmax-3:relu,lognormal-4,nonfinite
    # 18 layouts of complex numbers, three of the kinds of values and four pairs of factors, and
    # batches: 216 and 36; of real ones 96 and 16.
    run verify -d cpu --kernel reference --type f64,c64 -m 2 -n 3 -k 4 --csv
    if [ "$(cut -d, -f1-3 out | tail -n 2 | tr '\n' ' ')" = \
        'f64,reference,112 c64,reference,252 ' ]; then
        ok 'verify: conjugate transposes are among the cases'
    else
        no 'verify: conjugate transposes are among the cases' "$(tail -n 2 out | tr '\n' ' ')"
    fi
    verified 'verify: bits of parts, on the CPU' 6 -d cpu --reproducible --type $all --parts 4 --bias
    verified 'verify: bits of parts, on the simulator' 3 -d sim --reproducible --parts 2 --type f32,c32,bf16 \
        -m 70 -n 33 -k 300
    run verify -d cpu --reproducible -s 9 --parts 3 --json
    json 'verify: JSON of parts' 'r[0]["cases"] == 3 and r[0]["worst_of_bound"] is None and d["settings"]["reproducible"]'
    run verify -d cpu --kernel reference --quick -s 5 --type f16,bf16 --type-c f32 --bias --json
    json 'verify: JSON' '[x["type"] for x in r] == ["f16", "bf16"] and d["settings"]["type"] is None and d["settings"]["type_c"] == "f32" and d["settings"]["bias"] == "column" and d["settings"]["activation"] == "none"'
    run verify -d cpu --kernel reference --quick -s 5 --type c32 --json
    json 'verify: JSON of one type' 'd["settings"]["type"] == d["settings"]["type_c"] == "c32" and "type" not in r[0]'
    run verify -d cpu --reproducible -s 2147483648
    if [ "$status" -eq 1 ] && grep -q 'copies take .*, more than is free' err; then
        ok 'verify: bits of parts, larger than the memory'
    else
        no 'verify: bits of parts, larger than the memory' "exit status $status; $(first_error)"
    fi
    verified 'verify: bits of parts, where there are none' 1 -d cpu --reproducible -s 0
    refuses 'verify: bits of parts, --quick' 2 'quick has no effect' verify -d cpu --reproducible --quick
    refuses 'verify: bits of parts, --kernel' 2 'kernel has no effect' verify -d cpu --reproducible --kernel blas
    refuses 'verify: bits of parts, --data' 2 'data has no effect' verify -d cpu --reproducible --data relu
    refuses 'verify: --parts alone' 2 'is for --reproducible' verify -d cpu --parts 3
    refuses 'verify: no parts' 2 'parts' verify -d cpu --reproducible --parts 0
    refuses 'verify: a kernel without the type' 1 'naive' verify -d sim --type f64 --kernel naive
}

test_random()
{
    verified 'verify: random products on the CPU' 6 -d cpu --random 60 --type $all -s 30
    verified 'verify: random products on the simulator' 6 -d sim --random 12 --type $all -m 70 -n 40 -k 30
    verified 'verify: random products by kernels' "$cpu_count" -d cpu --random 5 -s 9 --kernel all --bias
    verified 'verify: random products of kinds of data' 1 -d cpu --random 20 --type c32 -s 20 --data softmax-3,relu:relu
    run verify -d cpu --random 60 --type f64 -s 40 --seed 7 --kernel reference --csv
    worst=$(sed -n 2p out)
    seed=$(echo "$worst" | cut -d, -f7)
    run verify -d cpu --random 1 --type f64 -s 40 --seed "${seed:-0}" --kernel reference --csv
    if [ -n "$seed" ] && [ "$(echo "$worst" | cut -d, -f4-7)" = "$(sed -n 2p out | cut -d, -f4-7)" ]; then
        ok 'verify: the seed repeats the worst random product'
    else
        no 'verify: the seed repeats the worst random product' "$(sed -n 2p out) instead of $worst"
    fi
    run verify -d cpu --random 40 -s 20 --json
    json 'verify: JSON of random products' 'd["settings"]["random"] == 40 and r[0]["cases"] == 40 and 1 <= r[0]["seed"] <= 40 and 0 < r[0]["error"] <= r[0]["bound"]'
    refuses 'verify: random products, --quick' 2 'quick has no effect' verify -d cpu --random 3 --quick
    refuses 'verify: random products, --reproducible' 2 'reproducible has no effect' verify -d cpu --random 3 --reproducible
    refuses 'verify: random products of two limits' 2 'one limit' verify -d cpu --random 3 -s 5,9
    refuses 'verify: no random products' 2 'random' verify -d cpu --random 0
}

# operations NAME COUNT ARGUMENT...: gflops times the time is so many.
operations()
{
    name=$1
    count=$2
    shift 2
    bench --kernel reference --csv "$@"
    if ! ended 0 ''; then
        no "$name" "$why"
    elif awk -F, -v wanted="$count" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { x = $at["gflops"] * $at["median_us"] * 1e3; exit !(x > 0.999 * wanted && x < 1.001 * wanted) }' out
    then
        ok "$name"
    else
        no "$name" "$(tail -n 1 out)"
    fi
}

# traffic NAME BYTES ARGUMENT...: gbs times the time is so many.
traffic()
{
    name=$1
    bytes=$2
    shift 2
    bench --kernel reference --csv -m 10 -n 20 -k 30 "$@"
    if awk -F, -v wanted="$bytes" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { x = $at["gbs"] * $at["median_us"] * 1e3; exit !(x > 0.999 * wanted && x < 1.001 * wanted) }' out
    then
        ok "$name"
    else
        no "$name" "$(tail -n 1 out)"
    fi
}

# zeros FILE ROWS COLUMNS: of float16.
zeros()
{
    dict="{'descr': '<f2', 'fortran_order': False, 'shape': ($2, $3), }"
    printf '\223NUMPY\1\0v\0%-117s\n' "$dict" >"$1"
    truncate -s $((128 + 2 * $2 * $3)) "$1"
}

# Sixteen rows of tiles, all of one raster group, after which a cluster with the parts of one tile's
# k has no other.
test_last_tile()
{
    zeros a.npy 2048 4096
    zeros b.npy 4096 64
    zeros zeros.npy 2048 64
    run multiply a.npy b.npy -o c.npy -d sim --kernel fp16x1-128x128
    if ! ended 0 ''; then
        no 'multiply: k divided within clusters' "$why"
    elif cmp -s c.npy zeros.npy; then
        ok 'multiply: k divided within clusters'
    else
        no 'multiply: k divided within clusters' 'C is not 0'
    fi
}

test_bench()
{
    bench -s 8 --kernel reference --type $all --csv
    first_column 'bench: the type is a column' "$types"
    bench -s 8 --kernel reference --type f32,c64 --transa N,C --order row,col --csv
    got=$(cut -d, -f 1-3 out | tr '\n' ' ')
    if [ "$got" = 'order,transa,type row,N,f32 row,C,f32 col,N,f32 col,C,f32 row,N,c64 row,C,c64 col,N,c64 col,C,c64 ' ]; then
        ok 'bench: types and layouts'
    else
        no 'bench: types and layouts' "$got"
    fi
    operations 'bench: 2mnk operations of doubles' 2000 -s 10 --type f64
    operations 'bench: 8mnk operations of complex numbers' 8000 -s 10 --type c32
    operations 'bench: 8mnk operations of a batch' 24000 -s 10 --type c64 --batch 3
    # 10 x 30, 30 x 20 and 10 x 20 elements.
    traffic 'bench: bytes of f16' 2200 --type f16
    traffic 'bench: bytes of C in f32' 2600 --type f16 --type-c f32
    traffic 'bench: bytes of c64, C twice' 20800 --type c64 --beta 1
    traffic 'bench: bytes of f64 in a batch' 17600 --type f64 --batch 2
    bench -m 33 -n 17 -k 65 --kernel all --type $all --check --json --beta 0.5
    json 'bench: --check' 'all(0 < x["error"] < {"f16": 2**-11, "bf16": 2**-8, "f32": 1e-6, "c32": 1e-6}.get(x["type"], 1e-15) for x in r) and len(r) == '$((6 * cpu_count))
    bench -m 33 -n 17 -k 65 --kernel all --type f16,bf16 --type-c f32 --check --json --ld-pad 3 --batch 2
    json 'bench: --check, C of f32' 'all(0 < x["error"] < 1e-6 for x in r)'
    bench -m 33 -n 17 -k 65 --kernel all --type f64,f16 --check --json --bias --activation gelu
    json 'bench: --check with a bias and GELU' 'all(0 < x["error"] < {"f64": 1e-15, "f16": 2**-11}[x["type"]] for x in r)'
    bench -m 33 -n 17 -k 65 --kernel reference --type c64 --alpha=0.5,-2 --beta 1e-3,1 --transa C --transb C --check --json
    json 'bench: complex factors' '0 < r[0]["error"] < 1e-15 and d["settings"]["alpha"] == [0.5, -2] and d["settings"]["beta"] == [1e-3, 1] and d["settings"]["type"] == "c64"'
    bench -s 9 --kernel reference --type f64,c32 --data normal,hilbert --check --json
    json 'bench: kinds of data' 'all(x["error"] < 1e-6 for x in r) and len(r) == 4'
    cp out typed.json
    run bench --from typed.json --csv
    first_column 'bench: --from with types' 'f64 f64 c32 c32'
    run bench --from typed.json --baseline typed.json --csv
    if [ "$(sed -e 1d -e 's/.*,//' out | tr '\n' ' ')" = 'same same same same ' ]; then
        ok 'bench: a baseline with types'
    else
        no 'bench: a baseline with types' "$(tail -n 1 out)"
    fi
    bench -s 9 --kernel reference --data normal --json
    cp out floats.json
    refuses_baseline 'bench: a baseline of another type' --type f16
    refuses_baseline 'bench: a baseline with another activation' --activation relu
    refuses_baseline 'bench: a baseline without a bias' --bias
    bench -s 9 --kernel reference --data normal --json --type f16 --type-c f32
    cp out floats.json
    refuses_baseline 'bench: a baseline with C of another type' --type f16
}

# refuses_baseline NAME ARGUMENT...: floats.json has no such case.
refuses_baseline()
{
    name=$1
    shift
    bench -s 9 --kernel reference --data normal --baseline floats.json "$@"
    if ended 1 'no result is of a case of the baseline'; then ok "$name"; else no "$name" "$why"; fi
}

test_plan()
{
    says 'plan: doubles' '^ +1000 +1000 +1000 +auto:[a-z0-9-]+ .* 0\.022 +yes$' \
        plan -s 1000 --type f64 --gpu H200
    says 'plan: 16-bit operands on tensor cores' '^ +4096 +4096 +4096 +auto:fp16x1-128x256 .* 0.094 +yes$' \
        plan -s 4096 --type bf16 --gpu H200
    refuses 'plan: the math mode of 16-bit operands' 2 '--math has no effect on operands of 16 bits' \
        plan -s 4096 --type bf16 --gpu H200 --math strict
    says 'plan: C of f32 takes twice the memory' ' 0.125 +yes$' \
        plan -s 4096 --type bf16 --type-c f32 --gpu H200
    says 'plan: operands that are not aligned are copied' ' 128x256x64 +[0-9]+ +[0-9]+ +1 +[23] +[1-9][0-9]+ ' \
        plan -s 4097 --type f16 --gpu H200
    says 'plan: 16-bit operands before compute capability 9.0' '^ +4096 +4096 +4096 +auto:pipelined-128x128 +128x128x32 ' \
        plan -s 4096 --type f16 --gpu A100
    says 'plan: an epilogue' 'auto:fp16x1-128x256 ' \
        plan -s 4096 --type f16 --activation gelu --bias --gpu H200
    run plan -s 64 --gpu H200 --type $all --csv
    first_column 'plan: several types' "$types"
    run plan -s 64 --gpu H200 --type f32,c64 --batch 4 --csv
    if [ "$(cut -d, -f 1-3 out | tr '\n' ' ')" = 'type,batch,m f32,4,64 c64,4,64 ' ]; then
        ok 'plan: types and batches'
    else
        no 'plan: types and batches' "$(cut -d, -f 1-3 out | tr '\n' ' ')"
    fi
    run plan -s 64 --gpu H200 --type f16,c64 --kernel all --csv
    if ended 0 '' && grep -q '^f16,64,64,64,fp16x1-128x128,' out && ! grep -q ',naive,' out; then
        ok 'plan: the kernels of a type'
    else
        no 'plan: the kernels of a type' "$why $(wc -l <out) rows"
    fi
    run plan -s 64 --gpu H200 --type c64,f16 --alpha 2 --activation none --json
    json 'plan: JSON' '[x["type"] for x in d["plans"]] == ["c64", "f16"] and d["settings"]["type"] is None and d["settings"]["type_c"] is None and d["settings"]["alpha"] == 2'
    refuses 'plan: a kernel without the type' 1 'naive' plan -s 64 --type f64 --gpu H200 --kernel naive
}

test_refused()
{
    for command in 'bench -d cpu -s 8' 'verify -d cpu -s 8' 'plan -s 8'; do
        name=${command%% *}
        # shellcheck disable=SC2086
        {
            for list in f8 F32 '' ',' 'f32,' ,f32 float f32,f65 f32111111111111111111111111111111111; do
                refuses "$name: --type '$list'" 2 '--type takes f32, f64' $command --type "$list"
            done
            refuses "$name: a type twice" 2 '"f64" twice' $command --type f64,f16,f64
            refuses "$name: --type-c of nothing" 2 '--type-c takes f32' $command --type-c f65
            refuses "$name: C of doubles" 2 '--type-c f32: C of f64 operands is f64' \
                $command --type f32,f64 --type-c f32
            refuses "$name: C of floats" 2 'C of f32 operands is f32' $command --type-c f16
            refuses "$name: C of half" 2 'C of bf16 operands is f16, bf16 or f32' \
                $command --type bf16 --type-c c32
            refuses "$name: an activation of complex numbers" 2 'c32 is complex' \
                $command --type f32,c32 --activation relu
            refuses "$name: an unknown activation" 2 'activation takes none, relu, gelu' \
                $command --activation tanh
            refuses "$name: --bias-per-row alone" 2 'give both' $command --bias-per-row
        }
    done
    for command in 'bench -d cpu -s 8' 'plan -s 8'; do
        name=${command%% *}
        # shellcheck disable=SC2086
        {
            refuses "$name: an imaginary part of a real alpha" 2 'alpha has an imaginary part' \
                $command --type c64,f64 --alpha 1,1
            for factor in ',' '1,' ,1 1,2,3 1,x x,1; do
                refuses "$name: --beta $factor" 2 '--beta takes a number' \
                    $command --type c32 --beta "$factor"
            done
            refuses "$name: a factor beyond float" 2 'beyond what a float holds' \
                $command --type c32 --alpha 1,1e39
            refuses "$name: a factor that float has as 0" 2 'a float would be 0' \
                $command --type bf16 --beta 1e-60
            refuses "$name: a factor beyond double" 2 'beyond what a double holds' \
                $command --type f64 --alpha 1e309
        }
    done
    bench -s 8 --type f64 --alpha 1e300 --beta 1e-300
    if ended 0 ''; then ok 'bench: factors of doubles'; else no 'bench: factors of doubles' "$why"; fi
}

test_verify
test_random
test_last_tile
test_bench
test_plan
test_refused
finish
