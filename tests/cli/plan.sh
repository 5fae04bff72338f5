#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xgemm plan, and batches of bench and verify, from the command line.

topic=plan
# shellcheck source=tests/cli/shell.sh
. "${srcdir:-$(dirname "$0")/../..}/tests/cli/shell.sh"

test_plans()
{
    says 'a large square' \
        '^ +4096 +4096 +4096 +auto:tma-128x128 +128x128x24 +1 +496 +1 +3 +84411648 +[0-9.]+ +[0-9]+ +measured +0.266 +yes$' \
        plan -s 4096 --gpu H200 --math strict
    says 'a large square on tensor cores' '^ +4096 +4096 +4096 +auto:fp16x3-128x256 ' \
        plan -s 4096 --gpu H200
    says 'a GPU without those' '^ +4096 +4096 +4096 +auto:(pipelined|bf16x6|fp16x3-mma)-[0-9x]+ ' plan -s 4096 --gpu A100
    says 'small, of 16 bits' '^ +10000 +16 +16 +16 +auto:thin-32x32 ' plan --type bf16 -s 16 --batch 10000 --gpu H200
    says 'thin, of 16 bits' '^ +571 +9703 +4 +auto:thin-64x128 ' plan --type bf16 -m 571 -n 9703 -k 4 --gpu H200
    says 'matrix times vector' '^ +1 +9000 +9000 +auto:skinny ' plan -m 1 -n 9000 -k 9000 --gpu H200
    says 'k is split' '^ +64 +64 +60000 +auto:[a-z0-9-]+ +[0-9x]+ +[1-9][0-9]+ ' \
        plan -m 64 -n 64 -k 60000 --gpu H200
    says 'a thousand small ones: one launch' \
        '^ +1000 +64 +64 +64 +auto:[a-z0-9-]+ +[0-9x]+ +1 +0 +1000 +1 ' plan -s 64 --batch 1000 --gpu H200
    says 'a kernel without batches' '^ +3 +64 +64 +64 +tiled32 +32x32x32 +1 +0 +1 +3 +0 +- +- +- ' \
        plan -s 64 --batch 3 --gpu H200 --kernel tiled32
    says 'no copies of aligned operands' ' 1 +0 +1 +1 +0 +[0-9.]+ +[0-9]+ +measured ' \
        plan -s 4096 --transa T --kernel pipelined-64x128 --gpu H100
    says 'copies of padded ones' ' 1 +0 +1 +2 +[1-9][0-9]+ +[0-9.]+ +[0-9]+ +measured ' \
        plan -s 4096 --transa T --ld-pad 1 --kernel pipelined-128x128 --gpu H100
    says 'tiles that are shared' ' +128x128x24 +1 +312 +1 +3 ' \
        plan -s 3072 --kernel tma-128x128 --gpu H200
    refuses 'a kernel that no GPU has' 2 'no kernel "tiled61"; the nearest names are tiled16' \
        plan -s 8 --gpu H200 --kernel tiled61
    refuses 'a kernel of the CPU' 2 'kernel reference is not for GPUs' plan -s 8 --gpu H200 --kernel auto,reference
    refuses 'a name that is near none' 2 'no kernel "nonesuch" on the CPU device; the nearest names are' \
        bench -d cpu -s 8 --kernel nonesuch
    says 'nothing multiplied' 'auto:none +- +- +- +1 +1 ' plan -s 9 --alpha 0 --device sim
    says 'the CPU' '^ +64 +64 +64 +reference +- +1 +0 +1 +1 +0 +- +- +- ' \
        plan -s 64 --device cpu --kernel reference
    says 'a GPU that was not measured' ' estimate +0.188 +yes$' plan -s 4096 --gpu A100
    says 'more than the memory' ' estimate +447.035 +no$' plan -s 200000 --gpu A100
    says 'more panels than can be counted' ' 137438953472 ' plan -m 1073741824 -n 1073741824 -k 1048576 --gpu H100
    says 'CSV: the heading' \
        '^m,n,k,kernel,tile,split_k,shared_tiles,together,launches,workspace_bytes,predicted_us,predicted_gflops,prediction,needs_gib,fits$' \
        plan -s 64 --device sim --csv
    says 'CSV: of a batch' '^batch,m,n,k,kernel' plan -s 64 --device sim --batch 2 --csv
    says 'JSON: the GPU' '"multiprocessors": 108' plan -s 64 --gpu A100 --json
    says 'JSON: the plan' '"workspace_bytes": 0' plan -s 64 --gpu A100 --json
    says 'JSON: the device' '"name": "libxgemm simulator"' plan -s 64 --device sim --json
    printf '3 4 5 # one\n6 7 8\n' >sizes
    says 'a file of sizes' '^ +6 +7 +8 ' plan --shapes sizes --gpu A100
    run plan -s 64 --kernel all --gpu A100 --csv
    if ended 0 '' && grep -q fp16x3-mma out && ! grep -q 'tma-' out; then
        ok 'all that an A100 runs'
    else
        no 'all that an A100 runs' "$why"
    fi
    run plan -s 64 --kernel all --gpu 'RTX 5090' --csv
    if ended 0 '' && grep -q fp16x3-mma-64x64 out && ! grep -q 'fp16x3-mma-128x64' out; then
        ok 'all whose shared memory an RTX 5090 has'
    else
        no 'all whose shared memory an RTX 5090 has' "$why"
    fi
    run plan -s 64 --kernel sliced-64x64 --gpu 'RTX 5090'
    if [ "$status" -eq 1 ] && grep -Eq 'needs up to [0-9]+ bytes of shared memory' err; then
        ok 'more shared memory than there is'
    else
        no 'more shared memory than there is' "exit status $status; $(first_error)"
    fi
    whole_k='plan --type bf16 -m 100 -n 100 -k 700 --batch 10 --kernel thin-32x32'
    # shellcheck disable=SC2086 # words
    says 'the whole k in shared memory' '^ +10 +100 +100 +700 +thin-32x32 +32x32x16 ' $whole_k --gpu H200
    # shellcheck disable=SC2086
    run $whole_k --gpu 'RTX 3080'
    if [ "$status" -eq 1 ] && grep -q 'cannot compute a product of this size in bfloat16; auto can' err; then
        ok 'the whole k, where there is less'
    else
        no 'the whole k, where there is less' "exit status $status; $(first_error)"
    fi
    run plan -s 16:64:16 --kernel all --gpu sm_90 --csv
    kernels=$("$XGEMM" kernels --csv | grep 'sim' | grep -c -v ',tf32,')
    if [ "$(grep -c -v ^m, out)" -eq $((4 * kernels)) ]; then
        ok 'all kernels and sizes'
    else
        no 'all kernels and sizes' "$(wc -l <out) lines, $kernels kernels"
    fi
}

test_refused()
{
    refuses 'no sizes' 2 '^xgemm plan: which sizes' plan
    refuses 'an operand' 2 '"64" is no option' plan 64
    refuses 'no batch' 2 '--batch takes a whole number from 1' plan -s 64 --batch 0
    refuses 'a GPU that is none' 2 'nearest' plan -s 64 --gpu nosuch
    refuses '--gpu and --device' 2 'give one of them' plan -s 64 --gpu A100 --device cpu
    refuses 'an unknown kernel' 2 'nosuch' plan -s 64 --gpu A100 --kernel nosuch
    run plan -s 64 --gpu V100
    if [ "$status" -eq 1 ] && grep -q 'compute capability 7.0; the kernels need at least 8.0' err; then
        ok 'a GPU that is too old'
    else
        no 'a GPU that is too old' "exit status $status; $(head -n 1 err)"
    fi
    run plan -s 64,128 --gpu sm_75 --kernel all
    if [ "$status" -eq 1 ] && grep -q 'compute capability 7.5; the kernels need at least 8.0' err; then
        ok 'all kernels of a GPU that is too old'
    else
        no 'all kernels of a GPU that is too old' "exit status $status; $(first_error)"
    fi
    for size in 1099511627777 1:1099511627777:1099511627776 1:2:1099511627777 64,99999999999999999999; do
        refuses "beyond the largest size: $size" 2 '"'$size'" is beyond the largest size, 2\^40$' plan -s $size --gpu H200
    done
    echo '1 1099511627777 3' >sizes
    refuses 'beyond the largest size: a file' 2 'sizes:1: "1 109.*is beyond the largest size, 2\^40$' plan -f sizes --gpu H200
    says 'the largest size' '^ +1 +1 +1099511627776 ' plan -m 1 -n 1 -k 1099511627776 --gpu H200
}

test_batches()
{
    says 'bench: a batch' '^ +20 +16 +16 +16 +auto:' \
        bench -s 16 --batch 20 --device cpu --samples 2 --warm 0 --time 0
    run bench -s 16 --batch 20 --device cpu --samples 2 --warm 0 --time 0 --kernel reference --json
    cp out run.json
    says 'bench: JSON has the batch' '"batch": 20' bench --from run.json --json
    says 'bench: an earlier batch' '^20,16,16,16,reference,' bench --from run.json --csv
    # All 20 products are counted.
    if awk '/"median_us"/ { us = $2 + 0 } /"gflops"/ { g = $2 + 0 }
            END { wanted = 20 * 2 * 16 * 16 * 16 / us / 1000
                  exit !(g > 0.999 * wanted && g < 1.001 * wanted) }' run.json; then
        ok 'bench: the speed of a batch'
    else
        no 'bench: the speed of a batch' "$(grep -E 'median_us|gflops' run.json | tr '\n' ' ')"
    fi
    # 96 cases of one product, 16 of batches.
    says 'verify: batches are among the cases' '^reference,112,' \
        verify -m 5 -n 4 -k 3 --device cpu --kernel reference --csv
}

# bench/residuals.sh, on times that are half and twice the predicted ones.
test_residuals()
{
    for kernel in sliced-32x32 thin-32x32; do
        run plan -s 64,128 --gpu H200 --kernel "$kernel" --csv
        awk -F, -v by="$([ "$kernel" = thin-32x32 ] && echo 2 || echo 0.5)" \
            'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
            { printf "%s,%s,%s,%s,%f\n", $c["m"], $c["n"], $c["k"], $c["kernel"], by * $c["predicted_us"] }' out
    done >rows.csv
    { echo 'm,n,k,kernel,median_us' && echo '64,64,64,auto:thin-32x32,1' && cat rows.csv; } >times.csv
    XGEMM=$XGEMM sh "$srcdir/bench/residuals.sh" --math strict --gpu H200 <times.csv >out 2>err
    if grep -Eq '^sliced-32x32 +2 +2\.000 +0\.000 +2 +2\.000 +0\.000$' out &&
        grep -Eq '^thin-32x32 +2 +0\.500 +0\.000 +0 +- +-$' out && grep -q '^. of 2 problems' out; then
        ok 'residuals of the model'
    else
        no 'residuals of the model' "$(cat out err)"
    fi
    if echo 'm,n,k,kernel,median_us' | XGEMM=$XGEMM sh "$srcdir/bench/residuals.sh" >out 2>err; then
        no 'residuals of nothing' 'exit status 0'
    elif grep -q "no kernel's time" err; then
        ok 'residuals of nothing'
    else
        no 'residuals of nothing' "$(cat err)"
    fi
}

# bench/choice.sh, on what the benchmark prints, whichever columns there are; and bench/targets.sh, on
# its JSON.
test_choice()
{
    cat >results.json <<'END'
{"schema_version": 3, "results": [
 {"m": 64, "n": 64, "k": 64, "kernel": "auto:tiled16", "median_us": 10, "cublas_us": 12},
 {"m": 64, "n": 64, "k": 64, "kernel": "tiled16", "median_us": 9, "cublas_us": 12},
 {"m": 64, "n": 64, "k": 64, "kernel": "naive", "median_us": 20},
 {"m": 2048, "n": 2048, "k": 2048, "kernel": "auto:tiled16", "median_us": 40, "cublas_us": 30},
 {"m": 2048, "n": 2048, "k": 2048, "kernel": "naive", "median_us": 20}]}
END
    "$XGEMM" bench --from results.json --csv >results.csv
    if sh "$srcdir/bench/choice.sh" <results.csv >out 2>err; then
        no 'choice of kernels' 'exit status 0 with half of the shapes wrong'
    elif grep -q '^2\.00  2048 x 2048 x 2048: tiled16 40\.0 us, naive 20\.0 us' out &&
        grep -q '^1 of 2 shapes within 10 %' out && grep -q 'geometric mean 0\.949, least 0\.750' out; then
        ok 'choice of kernels'
    else
        no 'choice of kernels' "$(cat out err)"
    fi
    if sh "$srcdir/bench/choice.sh" 0.5 <results.csv >out 2>err; then ok 'choice: enough'; else no 'choice: enough' "$(cat out err)"; fi
    mkdir folder
    cp results.json folder/strict-squares.json
    if XGEMM=$XGEMM sh "$srcdir/bench/targets.sh" folder >out 2>err; then
        no 'targets' 'exit status 0 where one is missed'
    elif grep -Eq '^strict-squares: least of 64 to 1024 +1\.200 +>= 1\.3 +MISSED' out &&
        grep -Eq '^strict-squares: least of 2048 to 16384 +0\.750 .*MISSED' out && ! [ -s err ]; then
        ok 'targets'
    else
        no 'targets' "$(cat out err)"
    fi
}

test_plans
test_refused
test_batches
test_residuals
test_choice
finish
