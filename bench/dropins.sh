#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with and without the drop-ins, on a machine with a GPU and PyTorch:
#
#   bench/dropins.sh OUTPUT-FOLDER [UTILITY]
#
# UTILITY is a built xgemm with libxgemm.so.0 and the drop-ins beside it: by default the one in the folder above
# (bench/portable.sh). Each step runs twice, as it is and under "xgemm run --log"; the folder gets
# STEP.without, STEP.with (lines of JSON), their messages, STEP.log (what was served), and table.txt,
# which is also printed. A step whose package is missing is skipped. The exit status is 1 if a result
# was wrong, losses differ by more than 1e-5, relative, or nothing was served.
#
# XGEMM_DROPINS_STEPS picks steps of those in "all" below (dropins.py says what they are); with
# XGEMM_DROPINS_LOG=no there is no log, which costs calls some time;
# XGEMM_DROPINS_OPTIONS are options for dropins.py; PYTHON is the interpreter.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: bench/dropins.sh OUTPUT-FOLDER [UTILITY]}
xgemm=${2:-$here/../xgemm}
python=${PYTHON:-python3}
all="torch-host torch-passed torch-speed torch-odd torch-graph torch-vector torch-stack gpt2 vit llama cupy numpy host torch-random"
steps=${XGEMM_DROPINS_STEPS:-$all}
logged=${XGEMM_DROPINS_LOG:-yes}

[ -x "$xgemm" ] || { echo "dropins.sh: there is no utility $xgemm" >&2; exit 2; }
mkdir -p "$out"
failed=0
libraries=$(cd "$(dirname "$xgemm")" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# What runs step $1.
program() {
  case $1 in
  gpt2 | vit | llama) echo "training.py --model $1" ;;
  *) echo "dropins.py ${XGEMM_DROPINS_OPTIONS:-} $1" ;;
  esac
}

# The Python package of step $1.
package() {
  case $1 in
  gpt2 | vit | llama) echo transformers ;;
  cupy | numpy) echo "$1" ;;
  *) echo torch ;;
  esac
}

done_steps=
for step in $steps; do
  "$python" -c "import importlib.util as u; exit(not u.find_spec('$(package "$step")'))" || {
    echo "dropins.sh: $step is skipped: there is no $(package "$step")" >&2
    continue
  }
  done_steps="$done_steps $step"
  # shellcheck disable=SC2046 # a program and its options
  (
    set -- $(program "$step")
    script=$here/$1
    shift
    status=0
    "$python" "$script" "$@" >"$out/$step.without" 2>"$out/$step.without.messages" || status=1
    log=--log=$out/$step.log
    [ "$step" != torch-vector ] || export XGEMM_SERVE=all # by libxgemm, whatever is faster
    [ "$logged" != no ] || log=
    LD_LIBRARY_PATH=$libraries "$xgemm" run ${log:+"$log"} -- "$python" "$script" "$@" >"$out/$step.with" \
      2>"$out/$step.with.messages" || status=1
    exit $status
  ) || {
    echo "dropins.sh: $step failed; see $out/$step.*.messages" >&2
    failed=1
  }
  sed -n '1s/^xgemm run: //p' "$out/$step.log" 2>/dev/null | sed "s/^/$step: /"
done

"$python" - "$out" "$done_steps" "$logged" >"$out/table.txt" << 'END' || failed=1
import json
import os
import sys

LIMIT = 1e-5


def lines(path):
    if not os.path.exists(path):
        return []
    return [json.loads(line) for line in open(path) if line.startswith("{")]


failed = False
print(f"{'':44} {'without':>12} {'with':>12} {'':4} {'without / with':>14}")
for step in sys.argv[2].split():
    without, with_it = (lines(f"{sys.argv[1]}/{step}.{which}") for which in ("without", "with"))
    if step in ("gpt2", "vit", "llama"):
        for a, b in zip(without, with_it):
            apart = max(abs(x - y) / abs(x) for x, y in zip(a["losses"], b["losses"], strict=True))
            is_same = apart <= LIMIT
            failed |= not is_same
            print(f"{'training ' + step:44} {a['ms_step']:12.2f} {b['ms_step']:12.2f} {'ms':4} "
                  f"{a['ms_step'] / b['ms_step']:14.3f}  losses differ by {apart:.1e}"
                  f"{'' if is_same else '  FAILED'}")
        failed |= not with_it
        continue
    values = {line["name"]: line["value"] for line in with_it}
    for line in without:
        name, value, other = line["name"], line["value"], values.get(line["name"])
        if other is None:
            failed = True
            print(f"{name:44} {value:12.4g} {'none':>12}  FAILED")
            continue
        ratio = f"{value / other:14.3f}" if line["unit"] in ("ms", "us") else ""
        print(f"{name:44} {value:12.4g} {other:12.4g} {line['unit']:4} {ratio}")
        values.pop(name)
    for name, value in values.items():
        print(f"{name:44} {'':12} {value:12.4g}")
    log = f"{sys.argv[1]}/{step}.log"
    if sys.argv[3] != "no" and (not os.path.exists(log) or " served 0 of " in open(log).readline()):
        print(f"{step}: libxgemm served nothing")
        failed |= step not in ("torch-host", "torch-passed")
sys.exit(failed)
END
cat "$out/table.txt"
exit $failed
