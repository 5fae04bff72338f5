#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks PyTorch's FP32 products against float64, to be run on bench/libcublas-preload.so:

    export XGEMM_PRELOAD_LOG=1
    LD_PRELOAD="libxgemm.so.0 libcublas-preload.so" python3 bench/preload_check.py

One line a case: the largest |C - C64| / (|alpha||A||B| + |beta||C|), and "FAILED" where it is above
the limit: 2^-20 by default, and for hard data twice the error of sums in plain FP32 if that is
more. The exit status is 1 if one failed. Run it without LD_PRELOAD, too, for cuBLAS's errors. The
log says how many calls libxgemm served.
"""

import argparse
import os
import sys

# Else addmm goes to cublasLtMatmul, which the tool does not see.
os.environ["DISABLE_ADDMM_CUDA_LT"] = "1"

import torch  # noqa: E402

SHAPES = [(1, 1, 1), (37, 45, 51), (128, 256, 64), (1, 1000, 700), (1000, 1, 700),
          (1024, 1024, 1024), (1025, 1023, 1027), (2048, 512, 4096), (64, 64, 20000)]
BATCHES = [(1, 64, 64, 64), (16, 197, 197, 64), (16, 197, 64, 197), (128, 33, 65, 17)]
REAL = ["normal", "relu", "softmax", "lognormal"]

generator = None
failures = 0


def operand(kind, *shape):
    """A matrix, or a batch, of one kind of data; a softmax is that of each row, as in attention."""
    values = torch.randn(shape, generator=generator, device="cuda")
    if kind == "relu":
        return values.relu()
    if kind == "softmax":
        return (3 * values).softmax(dim=-1)
    if kind == "lognormal":
        return (2 * values).exp()
    return values


def layouts(kind, *shape):
    """The same logical shape in several layouts: rows, a transpose, and both with gaps."""
    *batch, rows, columns = shape
    yield "N", operand(kind, *shape)
    yield "T", operand(kind, *batch, columns, rows).transpose(-1, -2)
    yield "N, ld", operand(kind, *batch, rows, columns + 5)[..., 2:columns + 2]
    yield "T, ld", operand(kind, *batch, columns, rows + 3)[..., 1:rows + 1].transpose(-1, -2)


def error_of(c, wanted, scale):
    """The largest error; 0 of 0 counts as 0."""
    error = (c.double() - wanted).abs()
    return torch.where(error == 0, 0.0, error / scale).max().item()


def check(name, c, a, b, limit, alpha=1.0, beta=0.0, before=None):
    """Compares C = alpha A B + beta before with float64."""
    global failures
    a, b = a.double(), b.double()
    wanted, scale = alpha * (a @ b), abs(alpha) * (a.abs() @ b.abs())
    if before is not None:
        wanted += beta * before.double()
        scale += abs(beta) * before.double().abs()
    worst = error_of(c, wanted, scale)
    failed = not worst <= limit  # NaN fails, too
    failures += failed
    print(f"{worst:9.2e}  {name}{'  FAILED' if failed else ''}")


def check_layouts(options):
    for m, n, k in SHAPES:
        for transa, a in layouts("normal", m, k):
            for transb, b in layouts("normal", k, n):
                check(f"mm {m} {n} {k} ({transa}) ({transb})", a.mm(b), a, b, options.limit)
    for batch, m, n, k in BATCHES:
        for transa, a in layouts("normal", batch, m, k):
            for transb, b in layouts("normal", batch, k, n):
                check(f"bmm {batch} × {m} {n} {k} ({transa}) ({transb})", a.bmm(b), a, b,
                      options.limit)


def check_scalars(options):
    a, b, c = (operand("normal", *shape) for shape in ((300, 500), (500, 200), (300, 200)))
    batches = [operand("normal", 12, *shape) for shape in ((30, 50), (50, 20), (30, 20))]
    for alpha, beta in (1.5, -0.5), (1.0, 1.0), (0.0, 2.0), (-2.0, 0.0):
        name = f"alpha {alpha} beta {beta}"
        check(f"addmm {name}", torch.addmm(c, a, b, alpha=alpha, beta=beta), a, b, options.limit,
              alpha, beta, c)
        x, y, z = batches
        check(f"baddbmm {name}", torch.baddbmm(z, x, y, alpha=alpha, beta=beta), x, y,
              options.limit, alpha, beta, z)
    nan = torch.full((300, 200), float("nan"), device="cuda")
    check("addmm beta 0 on NaN", torch.addmm(nan, a, b, beta=0), a, b, options.limit)
    bias = operand("normal", 200)
    check("addmm bias", torch.addmm(bias, a, b), a, b, options.limit, 1.0, 1.0,
          bias.expand(300, 200))


def fp32_error(a, b):
    """The same measure of a product in plain FP32: every element a chain of multiply-adds in k."""
    c = torch.zeros(a.shape[0], b.shape[1], device="cuda")
    for i in range(a.shape[1]):
        c.addcmul_(a[:, i:i + 1], b[i:i + 1, :])
    return error_of(c, a.double() @ b.double(), a.double().abs() @ b.double().abs())


def check_data(options):
    for kind in REAL:
        for m, n, k in (1024, 1024, 1024), (4096, 1024, 1024):
            a, b, c = operand(kind, m, k), operand("normal", k, n), operand(kind, n, k)
            for name, right in ("normal", b), (f"{kind}ᵀ", c.t()):
                fp32 = fp32_error(a, right)
                check(f"mm {m} {n} {k} {kind} × {name} (FP32: {fp32:.2e})", a.mm(right), a, right,
                      max(options.limit, 2 * fp32))


def check_graph(options, warm_up):
    """A replay must compute from what the operands hold by then. Without a warm-up the first call
    of these sizes is captured, and so is the allocation of its workspace."""
    size = 1536 if warm_up else 1792
    a, b, x, y = (operand("normal", *shape) for shape in
                  ((size, size), (size, size), (9, 100, 70), (9, 70, 90)))
    if warm_up:
        torch.mm(a, b)
        torch.bmm(x, y)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        c = torch.mm(a, b)
        z = torch.bmm(x, y)
    for _ in range(2):
        for operands in a, b, x, y:
            operands.normal_(generator=generator)
        torch.mm(operand("normal", 4096, 4096), operand("normal", 4096, 4096))
        graph.replay()
        torch.cuda.synchronize()
        name = "after a warm-up" if warm_up else "of first calls"
        check(f"graph {name}: mm", c, a, b, options.limit)
        check(f"graph {name}: bmm", z, x, y, options.limit)


def check_streams(options):
    """A side stream beside the default one: each has a workspace of its own."""
    a, b = operand("normal", 2048, 2048), operand("normal", 2048, 2048)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        products = [torch.mm(a, b) for _ in range(4)]
    others = [torch.mm(b, a) for _ in range(4)]
    torch.cuda.synchronize()
    for c in products:
        check("mm on a side stream", c, a, b, options.limit)
    for c in others:
        check("mm on the default stream", c, b, a, options.limit)


def main():
    global generator
    parser = argparse.ArgumentParser(description="PyTorch's FP32 products against float64")
    parser.add_argument("--limit", type=float, default=2.0 ** -20,
                        help="largest error that passes (default: 2^-20)")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("preload_check.py: PyTorch finds no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    generator = torch.Generator("cuda").manual_seed(1)
    torch.mm(operand("normal", 2, 2), operand("normal", 2, 2))  # cuBLAS's handle, not captured
    check_graph(options, warm_up=False)
    check_graph(options, warm_up=True)
    check_layouts(options)
    check_scalars(options)
    check_data(options)
    check_streams(options)
    print(f"{failures} failed" if failures else "all passed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
