# SPDX-License-Identifier: BSD-3-Clause
"""The steps of dropins.py whose matrices are in host memory, and what all steps share."""

import json
import time

LIMIT = 2.0 ** -20
SEED = 20261127
failures = 0


def result(name, value, unit):
    print(json.dumps({"name": name, "value": value, "unit": unit}), flush=True)


# ---- Host memory ----

class HostProduct:
    """C = A B from host memory, square: by the BLAS that is preloaded, by cublasXt, or only the copies."""

    def __init__(self, torch, n, pinned, dtype=None):
        generator = torch.Generator().manual_seed(SEED)
        dtype = dtype or torch.float32
        self.torch, self.n, self.is_double = torch, n, dtype == torch.float64
        self.a, self.b, self.c = (torch.empty(n, n, dtype=dtype, pin_memory=pinned) for _ in range(3))
        for matrix in self.a, self.b:
            matrix.normal_(generator=generator)
        self.c.zero_()

    def by_blas(self, blas, beta=0):
        import ctypes
        n, real = self.n, ctypes.c_double if self.is_double else ctypes.c_float
        gemm = blas.cblas_dgemm if self.is_double else blas.cblas_sgemm
        a, b, c = (ctypes.c_void_p(x.data_ptr()) for x in (self.a, self.b, self.c))
        return lambda: gemm(101, 111, 111, n, n, n, real(1), a, n, b, n, real(beta), c, n)

    def by_cublas_xt(self, cublas):
        import ctypes
        handle, gpu = ctypes.c_void_p(), ctypes.c_int(0)
        if cublas.cublasXtCreate(ctypes.byref(handle)) or \
                cublas.cublasXtDeviceSelect(handle, 1, ctypes.byref(gpu)):
            raise RuntimeError("cublasXt cannot be started")
        n, one, zero = ctypes.c_size_t(self.n), ctypes.c_float(1), ctypes.c_float(0)
        a, b, c = (ctypes.c_void_p(x.data_ptr()) for x in (self.a, self.b, self.c))
        # A row-major product is the column-major one of B and A.
        return lambda: cublas.cublasXtSgemm(handle, 0, 0, n, n, n, ctypes.byref(one), b, n, a, n,
                                            ctypes.byref(zero), c, n)

    def by_copies(self):
        """A and B to the GPU, then C back, from pinned memory: none goes both ways at once."""
        torch = self.torch
        pinned = [x.pin_memory() for x in (self.a, self.b, self.c)]
        on_gpu = [torch.empty_like(x, device="cuda") for x in (self.a, self.b, self.c)]

        def copy():
            for i in range(2):
                on_gpu[i].copy_(pinned[i], non_blocking=True)
            pinned[2].copy_(on_gpu[2], non_blocking=True)
            torch.cuda.synchronize()
        return copy

    def check(self, name):
        global failures
        rows = [0, self.n // 3, self.n - 1]
        wide = self.a[rows].double().cuda(), self.b.cuda().double()
        scale = wide[0].abs() @ wide[1].abs()
        error = ((self.c[rows].double().cuda() - wide[0] @ wide[1]).abs() / scale).max().item()
        limit = 2.0 ** -50 if self.is_double else LIMIT
        failures += not error <= limit
        result(f"{name}: error", error, "")


def host_ms(function, rounds=5):
    """The best round; the first starts the GPU."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[1:])


def cublas_library():
    import ctypes
    for version in 13, 12, 11:
        try:
            return ctypes.CDLL(f"libcublas.so.{version}")
        except OSError:
            pass
    return None


def host(torch, options):
    import ctypes
    import os
    blas = ctypes.CDLL(None) if "libxgemm-blas" in os.environ.get("LD_PRELOAD", "") else None
    torch.cuda.init()
    cases = [(n, pinned, torch.float32) for n in (4096, 8192, 16384) for pinned in (False, True)]
    cases += [(n, pinned, torch.float64) for n in (4096, 8192) for pinned in (False, True)]
    for n, pinned, dtype in cases:
        product = HostProduct(torch, n, pinned, dtype)
        name = f"host {n} {str(dtype)[6:]} {'pinned' if pinned else 'pageable'}"
        result(name, host_ms(product.by_blas(blas) if blas else product.by_copies()), "ms")
        if blas:
            product.check(name)
            torch.cuda.empty_cache()
    product = HostProduct(torch, 8192, False)
    if blas:
        product.by_blas(blas)()
    result("host 8192 float32, beta = 0.5",
           host_ms(product.by_blas(blas, 0.5) if blas else product.by_copies()), "ms")
    product = HostProduct(torch, 16384, False)
    cublas = cublas_library()
    if blas or cublas:
        result("host 16384, for cublasXt",
               host_ms(product.by_blas(blas) if blas else product.by_cublas_xt(cublas), 3), "ms")
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    name = "host 16384, 1 GiB free"
    if blas:
        held = torch.empty(max(free - (1 << 30), 0), dtype=torch.uint8, device="cuda")
        result(name, host_ms(product.by_blas(blas), 2), "ms")
        del held
        product.check(name)
    else:
        result(name, host_ms(product.by_copies(), 2), "ms")


# ---- NumPy ----

def numpy_products(options):
    """From host memory. The first large product is apart: it starts the GPU."""
    global failures
    import numpy

    random = numpy.random.default_rng(SEED)
    cases = [(n, "float32") for n in (2048, 4096, 8192, 16384)] + [(n, "float64") for n in (4096, 8192)]
    for n, dtype in cases:
        a, b = (random.standard_normal((n, n), dtype=dtype) for _ in range(2))
        c = numpy.empty((n, n), dtype)
        times = []
        for _ in range(4):
            start = time.perf_counter()
            numpy.matmul(a, b, out=c)
            times.append(time.perf_counter() - start)
        name = f"numpy matmul {n} {dtype}"
        result(f"{name}: first", 1e3 * times[0], "ms")
        result(name, 1e3 * min(times[1:]), "ms")
        rows = random.integers(n, size=8)
        wide = a[rows].astype("longdouble" if n <= 4096 else "float64"), b
        scale = abs(wide[0]) @ abs(wide[1])
        error = float((abs(c[rows] - wide[0] @ wide[1]) / scale).max())
        failures += not error <= (2.0 ** -50 if dtype == "float64" else LIMIT)
        result(f"{name}: error", error, "")
