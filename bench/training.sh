#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# FP32 training of transformers (training.py) in PyTorch, by cuBLAS and by libxgemm:
#
#   bench/training.sh [OUTPUT.json [LIBXGEMM.SO LIBCUBLAS-PRELOAD.SO]]
#
# Each model is trained four times, in turns without and with the libraries preloaded, and the
# better time of two counts. Prints a table, and writes it with all runs to OUTPUT.json
# (training.json), and what libxgemm computed to OUTPUT.log. The exit status is 1 where losses
# differ by more than 1e-5, relative, or where libxgemm computed nothing.
#
# The libraries are also those of $XGEMM_LIBRARY and $XGEMM_PRELOAD, and by default those in the
# folder above (bench/portable.sh). XGEMM_TRAINING_MODELS picks of "gpt2 vit llama",
# XGEMM_TRAINING_OPTIONS are options for training.py, PYTHON is the interpreter.
#
# PyTorch computes linear layers with a bias by cublasLtMatmul, which cannot be preloaded. Runs with
# libxgemm therefore set DISABLE_ADDMM_CUDA_LT=1; those of cuBLAS are PyTorch as it is, unless
# that is set for this script.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-training.json}
xgemm=${2:-${XGEMM_LIBRARY:-$here/../libxgemm.so.0}}
preload=${3:-${XGEMM_PRELOAD:-$here/../libcublas-preload.so}}
python=${PYTHON:-python3}
log=${out%.json}.log

for file in "$xgemm" "$preload"; do
  [ -f "$file" ] || { echo "training.sh: there is no $file" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: > "$log"

# run LIBRARY COMMAND...: one training; its line, with the library's name, goes to the runs.
run() {
  name=$1
  shift
  # shellcheck disable=SC2086 # a list of options
  line=$("$@" "$python" "$here/training.py" --model "$model" ${XGEMM_TRAINING_OPTIONS:-} \
    2> "$work/messages") || { tail -n 20 "$work/messages" >&2; exit 2; }
  echo "== $model, $name" | cat - "$work/messages" >> "$log"
  printf '{"library": "%s", "run": %s}\n' "$name" "$line" >> "$work/runs"
}

for model in ${XGEMM_TRAINING_MODELS:-gpt2 vit llama}; do
  for library in cublas libxgemm cublas libxgemm; do
    if [ "$library" = cublas ]; then
      run cublas env
      continue
    fi
    run libxgemm env DISABLE_ADDMM_CUDA_LT=1 XGEMM_PRELOAD_LOG=1 \
      LD_PRELOAD="$xgemm:$preload${LD_PRELOAD:+:$LD_PRELOAD}"
    if ! grep -q '^libcublas-preload: [1-9][0-9]* served' "$work/messages"; then
      echo "training.sh: libxgemm computed nothing of $model; see $log" >&2
      exit 1
    fi
  done
done

"$python" - "$work/runs" "$out" << 'END'
import json
import sys

LIMIT = 1e-5


def difference(a, b):
    """The largest relative difference of two runs' losses; NaN stays NaN."""
    differences = [abs(x - y) / abs(x) for x, y in zip(a["losses"], b["losses"], strict=True)]
    return next((d for d in differences if d != d), max(differences))


runs = [json.loads(line) for line in open(sys.argv[1])]
results = []
for model in dict.fromkeys(run["run"]["model"] for run in runs):
    cublas, libxgemm = ([run["run"] for run in runs
                         if run["run"]["model"] == model and run["library"] == library]
                        for library in ("cublas", "libxgemm"))
    times = [min(run["ms_step"] for run in of) for of in (cublas, libxgemm)]
    results.append({
        "model": model, "cublas_ms": times[0], "libxgemm_ms": times[1],
        "ratio": times[0] / times[1],
        "loss_difference": max((difference(cublas[0], run) for run in libxgemm),
                               key=lambda d: float("inf") if d != d else d),
        "cublas_loss_difference": difference(cublas[0], cublas[1]),
        "cublas": cublas, "libxgemm": libxgemm})
with open(sys.argv[2], "w") as file:
    json.dump({"limit": LIMIT, "results": results}, file, indent=1)
    file.write("\n")

print(f"{'model':8} {'cuBLAS ms':>10} {'libxgemm ms':>12} {'ratio':>6} {'losses differ by':>17} "
      f"{'(cuBLAS by itself)':>19}")
failed = False
for r in results:
    is_same = r["loss_difference"] <= LIMIT  # not for NaN
    failed = failed or not is_same
    print(f"{r['model']:8} {r['cublas_ms']:10.2f} {r['libxgemm_ms']:12.2f} {r['ratio']:6.3f} "
          f"{r['loss_difference']:17.1e} {r['cublas_loss_difference']:19.1e}"
          f"{'' if is_same else '  FAILED'}")
sys.exit(failed)
END
