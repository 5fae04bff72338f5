#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Products of PyTorch, CuPy and NumPy, for bench/dropins.sh, which runs this with and without the
drop-ins:

    python3 bench/dropins.py [--calls N] STEP...

Steps: torch-random (random calls against float64: the exit status is 1 if one is wrong),
torch-speed, torch-stack, torch-host, torch-passed, torch-odd, torch-graph, torch-vector, cupy, numpy, host. One line of
JSON a result, {"name", "value", "unit"}; an "error" is the largest |C - C64| / (|A||B| + |C0|).

torch-passed: small calls that the drop-in passes on, rounds of a thousand, what they take by the GPU's clock and
what they cost the host. torch-odd: FP16 and BF16 that are not aligned, or of which only some operands are.
torch-graph: small products in a captured graph. torch-vector: matrix times vector; dropins.sh serves all.

host: products from host memory by libxgemm-blas.so. Without it the same name has what the copies alone take, A and B to
the GPU and then C back over pinned memory, or what cublasXt takes; so that "without / with" is the share of
that; it may be above 1, since a product copies both ways at once. The last case leaves 1 GiB of the GPU's memory.
"""

import argparse
import os
import statistics
import sys
import time

import dropins_host
from dropins_host import LIMIT, SEED, result

failures = 0


# ---- Random calls of PyTorch ----

class Calls:
    """Random products, their operands in random layouts, and what float64 gives for them."""

    def __init__(self, torch, seed):
        import random
        self.torch = torch
        self.random = random.Random(seed)
        self.generator = torch.Generator("cuda").manual_seed(seed)

    def size(self):
        return self.random.choice([0, 1, 1, 2, 3, 7, 16, 33, 64, 64, 100, 128, 255, 256, 384, 513,
                                   768, 1024])

    def operand(self, *shape):
        """Contiguous, a transpose, a slice with gaps, or every second element."""
        *batch, rows, columns = shape
        kind = self.random.randrange(5)
        make = lambda *s: self.torch.randn(s, generator=self.generator, device="cuda")  # noqa: E731
        if kind == 0:
            return make(*batch, columns, rows).transpose(-1, -2)
        if kind == 1:
            return make(*batch, rows, columns + 5)[..., 2:columns + 2]
        if kind == 2:
            return make(*batch, columns, rows + 3)[..., 1:rows + 1].transpose(-1, -2)
        if kind == 3 and rows * columns < 1 << 18:
            return make(*batch, rows, 2 * columns)[..., ::2]
        return make(*batch, rows, columns)

    def compare(self, name, c, wanted, scale):
        global failures
        if c.shape != wanted.shape:
            failures += 1
            print(f"{name}: shape {tuple(c.shape)}, not {tuple(wanted.shape)}", file=sys.stderr)
            return 0.0
        if c.numel() == 0:
            return 0.0
        error = (c.double() - wanted).abs()
        worst = self.torch.where(error == 0, 0.0, error / scale).max().item()
        if not worst <= LIMIT:
            failures += 1
            print(f"{name}: error {worst:.2e}", file=sys.stderr)
        return worst

    def product(self, name, c, a, b, added=None):
        a, b = a.double(), b.double()
        wanted, scale = a @ b, a.abs() @ b.abs()
        if added is not None:
            wanted, scale = wanted + added.double(), scale + added.double().abs()
        return self.compare(name, c, wanted, scale)

    def linear(self, name, m, n, k):
        """Forward and backward, with a bias."""
        torch = self.torch
        x = self.operand(m, k).requires_grad_()
        w = self.operand(n, k).requires_grad_()
        bias = torch.randn(n, generator=self.generator, device="cuda").requires_grad_()
        y = torch.nn.functional.linear(x, w, bias)
        gradient = torch.randn(y.shape, generator=self.generator, device="cuda")
        y.backward(gradient)
        worst = self.product(name, y.detach(), x.detach(), w.detach().t(), bias.detach())
        worst = max(worst, self.product(name + " dx", x.grad, gradient, w.detach()))
        return max(worst, self.product(name + " dw", w.grad, gradient.t(), x.detach()))

    def one(self):
        torch = self.torch
        m, n, k, count = self.size(), self.size(), self.size(), self.random.choice([1, 2, 5, 16])
        kind = self.random.choice(["mm", "bmm", "addmm", "baddbmm", "linear", "einsum", "broadcast",
                                   "addmm_activation"])
        if kind == "addmm_activation":
            m, n, k = max(m, 1), max(n, 1), max(k, 1)
        name = f"{kind} {m} {n} {k} x {count}"
        if kind == "linear":
            return self.linear(name, m, n, k)
        if kind in ("mm", "addmm", "addmm_activation"):
            a, b = self.operand(m, k), self.operand(k, n)
            if kind == "mm":
                return self.product(name, a.mm(b), a, b)
            if kind == "addmm":
                c = self.operand(m, n)
                return self.product(name, torch.addmm(c, a, b), a, b, c)
            bias = torch.randn(n, generator=self.generator, device="cuda")
            c = torch._addmm_activation(bias, a, b, use_gelu=False)
            a, b = a.double(), b.double()
            return self.compare(name, c, (a @ b + bias.double()).relu(),
                                a.abs() @ b.abs() + bias.double().abs())
        m, n, k = min(m, 384), min(n, 384), min(k, 384)
        a, b = self.operand(count, m, k), self.operand(count, k, n)
        if kind == "bmm":
            return self.product(name, a.bmm(b), a, b)
        if kind == "baddbmm":
            c = self.operand(count, m, n)
            return self.product(name, torch.baddbmm(c, a, b), a, b, c)
        if kind == "einsum":
            return self.product(name, torch.einsum("bij,bjk->bik", a, b), a, b)
        return self.product(name, torch.matmul(a, b[0]), a, b[0].expand(count, k, n))


def torch_random(torch, options):
    calls = Calls(torch, SEED)
    worst = 0.0
    for _ in range(options.calls):
        worst = max(worst, calls.one())
    result("random calls", options.calls, "calls")
    result("random calls: wrong", failures, "calls")
    result("random calls: largest error", worst, "")


# ---- Times of PyTorch ----

def device_ms(torch, function, rounds=7):
    """The median of rounds that each take some milliseconds."""
    function()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(3):
            function()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 3)
    return statistics.median(times)


def torch_speed(torch, options):
    def make(*shape, dtype=torch.float32):
        return torch.randn(shape, device="cuda", dtype=dtype)

    for n in 256, 512, 1024, 2048, 4096, 8192:
        a, b = make(n, n), make(n, n)
        result(f"mm {n}", device_ms(torch, lambda: a.mm(b)), "ms")
    for count, m, n, k in (128, 1024, 1024, 64), (128, 1024, 64, 1024), (16, 512, 512, 512):
        a, b = make(count, m, k), make(count, k, n)
        result(f"bmm {count} x {m} {n} {k}", device_ms(torch, lambda: a.bmm(b)), "ms")
    for m, n, k in (64, 1024, 1024), (8192, 1024, 1024), (8192, 4096, 1024), (8192, 1024, 4096):
        x, w, bias = make(m, k), make(n, k), make(n)
        result(f"linear with bias {m} {n} {k}",
               device_ms(torch, lambda: torch.nn.functional.linear(x, w, bias)), "ms")
    for dtype in torch.bfloat16, torch.float16, torch.float64, torch.complex64, torch.complex128:
        for n in 128, 512, 4096, 4097:
            a, b = make(n, n, dtype=dtype), make(n, n, dtype=dtype)
            result(f"mm {n} {str(dtype)[6:]}", device_ms(torch, lambda: a.mm(b)), "ms")
    for n in 8192, 8193:
        a, b = make(n, n, dtype=torch.float64), make(n, n, dtype=torch.float64)
        result(f"mm {n} float64", device_ms(torch, lambda: a.mm(b), rounds=3), "ms")
    torch.backends.cuda.matmul.allow_tf32 = True
    for n in 512, 1024, 4096:
        a, b = make(n, n), make(n, n)
        result(f"mm {n} tf32 allowed", device_ms(torch, lambda: a.mm(b)), "ms")


def torch_stack(torch, options):
    """Four encoder layers, width 2048, 16 heads, 8192 inside; 8 x 1024 tokens; forward, backward."""
    torch.manual_seed(SEED)
    layers = torch.nn.Sequential(*[
        torch.nn.TransformerEncoderLayer(2048, 16, 8192, dropout=0.0, batch_first=True)
        for _ in range(4)]).cuda()
    x = torch.randn(8, 1024, 2048, device="cuda")

    def step():
        layers.zero_grad()
        layers(x).square().mean().backward()

    result("transformer stack", device_ms(torch, step, rounds=5), "ms")


def torch_host(torch, options):
    """What a call costs the host: small products, so that the GPU waits for it."""
    for n in 16, 64:
        a, b, c = (torch.randn(n, n, device="cuda") for _ in range(3))
        x = torch.randn(64, n, n, device="cuda").bfloat16()
        for name, call in ((f"host mm {n}", lambda: torch.mm(a, b, out=c)),
                           (f"host bmm {n} bf16", lambda: torch.bmm(x, x))):
            for _ in range(100):
                call()
            torch.cuda.synchronize()
            rounds = []
            for _ in range(9):
                start = time.perf_counter()
                for _ in range(500):
                    call()
                rounds.append((time.perf_counter() - start) / 500)
                torch.cuda.synchronize()
            result(name, 1e6 * statistics.median(rounds), "us")


def many_ms(torch, call, rounds=9, calls=1000):
    """A call's time when many follow each other: by the GPU's clock, and the host's. Medians."""
    for _ in range(calls):
        call()
    torch.cuda.synchronize()
    gpu, host = [], []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin = time.perf_counter()
        start.record()
        for _ in range(calls):
            call()
        end.record()
        host.append((time.perf_counter() - begin) / calls)
        torch.cuda.synchronize()
        gpu.append(start.elapsed_time(end) / calls)
    return statistics.median(gpu), 1e6 * statistics.median(host)


def torch_passed(torch, options):
    def measure(name, call):
        gpu, host = many_ms(torch, call)
        result(f"{name}", gpu, "ms")
        result(f"{name}: host", host, "us")

    def make(*shape, dtype=torch.float32):
        return torch.randn(shape, device="cuda", dtype=dtype)

    for n in 64, 512:
        for dtype in torch.bfloat16, torch.float16, torch.float64, torch.complex64:
            a, b, c = (make(n, n, dtype=dtype) for _ in range(3))
            measure(f"passed on: mm {n} {str(dtype)[6:]}", lambda: torch.mm(a, b, out=c))
    x, w, bias = make(64, 1024), make(1024, 1024), make(1024)
    measure("passed on: linear with bias 64 1024 1024",
            lambda: torch.nn.functional.linear(x, w, bias))
    half = [t.bfloat16() for t in (x, w, bias)]
    measure("passed on: linear with bias 64 1024 1024 bfloat16",
            lambda: torch.nn.functional.linear(*half))
    torch.backends.cuda.matmul.allow_tf32 = True
    for n in 64, 512, 1024:
        a, b, c = (make(n, n) for _ in range(3))
        measure(f"passed on: mm {n} tf32 allowed", lambda: torch.mm(a, b, out=c))
    torch.backends.cuda.matmul.allow_tf32 = False


def torch_odd(torch, options):
    """Contiguous odd sizes; then 4096 with A, B and C, or some of them, in odd columns."""
    def make(rows, columns, gap, dtype):
        return torch.randn(rows, columns + gap, device="cuda", dtype=dtype)[:, :columns]

    for dtype in torch.bfloat16, torch.float16:
        name = str(dtype)[6:]
        for n in 1025, 2047, 2049, 4097, 8193:
            a, b, c = (make(n, n, 0, dtype) for _ in range(3))
            result(f"odd: mm {n} {name}", device_ms(torch, lambda: torch.mm(a, b, out=c)), "ms")
        for gap in 1, 2, 4:
            for which in "ab", "a", "b":
                a, b = (make(4096, 4096, gap if x in which else 0, dtype) for x in "ab")
                c = make(4096, 4096, 0, dtype)
                result(f"odd: mm 4096 {name} {which} + {gap}",
                       device_ms(torch, lambda: torch.mm(a, b, out=c)), "ms")
        x, w, bias = make(4095, 2049, 0, dtype), make(4097, 2049, 0, dtype), make(1, 4097, 0, dtype)[0]
        result(f"odd: linear with bias 4095 4097 2049 {name}",
               device_ms(torch, lambda: torch.nn.functional.linear(x, w, bias)), "ms")


def torch_graph(torch, options):
    """Small products in a captured graph, which leaves the host's time out: 50 of a size."""
    for dtype in torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.complex64:
        for n in 64, 128, 256, 512, 1024:
            a, b, c = (torch.randn(n, n, device="cuda").to(dtype) for _ in range(3))
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                torch.mm(a, b, out=c)
            stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(50):
                    torch.mm(a, b, out=c)
            result(f"graph: mm {n} {str(dtype)[6:]}", 1e3 * device_ms(torch, graph.replay) / 50, "us")


def torch_vector(torch, options):
    """Matrix times vector, by cublasSgemv and cublasDgemv; and where all is served, by libxgemm: a product with a
    matrix of one column. The drop-in has no gemv: what would speak for one."""
    served = os.environ.get("XGEMM_SERVE") == "all"
    for dtype in torch.float32, torch.float64:
        for m, n in ((64, 64), (512, 512), (1024, 1024), (4096, 1024), (1536, 4608), (4096, 4096),
                     (16384, 4096), (4096, 16384), (512, 500000)):
            for layout in "NT":
                a = torch.randn((m, n) if layout == "T" else (n, m), device="cuda", dtype=dtype)
                a = a if layout == "T" else a.t()
                x, y = torch.randn(n, device="cuda", dtype=dtype), torch.empty(m, device="cuda", dtype=dtype)
                name = f"vector: {layout} {m} {n} {str(dtype)[6:]}"
                column, sum_of = x.view(n, 1), y.view(m, 1)
                multiply = (lambda: torch.mm(a, column, out=sum_of)) if served else (lambda: torch.mv(a, x, out=y))
                gpu, cpu = many_ms(torch, multiply, rounds=5, calls=200)
                result(name, 1e3 * gpu, "us")
                result(f"{name}: host", cpu, "us")


# ---- CuPy ----

def cupy_products(options):
    global failures
    import cupy

    def check(name, c, wanted, scale):
        global failures
        error = float((abs(c.astype("float64") - wanted) / scale).max())
        failures += not error <= LIMIT
        result(f"cupy {name}: error", error, "")

    random = cupy.random.RandomState(SEED)
    for n in 1000, 4096:
        a, b = (random.standard_normal((n, n), dtype="float32") for _ in range(2))
        wide = [abs(x.astype("float64")) for x in (a, b)]
        wanted, scale = a.astype("float64") @ b.astype("float64"), wide[0] @ wide[1]
        check(f"matmul {n}", cupy.matmul(a, b), wanted, scale)
        check(f"tensordot {n}", cupy.tensordot(a, b, axes=1), wanted, scale)
        times = []
        for _ in range(7):
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            cupy.matmul(a, b)
            end.record()
            end.synchronize()
            times.append(cupy.cuda.get_elapsed_time(start, end))
        result(f"cupy matmul {n}", statistics.median(times), "ms")


STEPS = {"torch-random": torch_random, "torch-speed": torch_speed, "torch-stack": torch_stack,
         "torch-host": torch_host, "torch-passed": torch_passed, "torch-odd": torch_odd,
         "torch-graph": torch_graph, "torch-vector": torch_vector,
         "cupy": cupy_products, "numpy": dropins_host.numpy_products, "host": dropins_host.host}


def main():
    parser = argparse.ArgumentParser(description="products of PyTorch and CuPy")
    parser.add_argument("--calls", type=int, default=1500, help="random calls (default: 1500)")
    parser.add_argument("steps", nargs="+", choices=STEPS, metavar="STEP")
    options = parser.parse_args()
    for step in options.steps:
        if step in ("cupy", "numpy"):
            STEPS[step](options)
            continue
        import torch
        torch.backends.cuda.matmul.allow_tf32 = False
        STEPS[step](torch, options)
    return failures + dropins_host.failures > 0


if __name__ == "__main__":
    sys.exit(main())
