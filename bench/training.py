#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times FP32 training of three transformers with AdamW: random weights, random data.

    python3 bench/training.py [--model gpt2 --model vit --model llama] [--attention sdpa]

Needs PyTorch with CUDA, transformers, and no network. One line of JSON a model: model, ms_step
(the median of the timed steps, by CUDA events), losses (of all steps), peak_memory_bytes (of
PyTorch's allocator), device_memory_bytes (all that is in use on the GPU at the end, libxgemm's
workspace too), torch, device. bench/dropins.sh runs it with and without libxgemm.

Attention is "eager" by default, since the fused kernels of "sdpa" multiply without cuBLAS.
"""

import argparse
import json
import statistics
import sys

import torch
import transformers

SEED = 20261126
LEARNING_RATE = 1e-4


def gpt2(generator):
    config = transformers.GPT2Config(
        n_layer=12, n_embd=1024, n_head=16, n_positions=1024,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False)
    tokens = torch.randint(config.vocab_size, (8, 1024), generator=generator)
    return transformers.AutoModelForCausalLM, config, {"input_ids": tokens, "labels": tokens}


def vit(generator):
    config = transformers.ViTConfig(
        num_hidden_layers=12, hidden_size=1024, num_attention_heads=16, intermediate_size=4096,
        image_size=224, patch_size=16, num_labels=1000,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    images = torch.randn((64, 3, 224, 224), generator=generator)
    labels = torch.randint(1000, (64,), generator=generator)
    batch = {"pixel_values": images, "labels": labels}
    return transformers.AutoModelForImageClassification, config, batch


def llama(generator):
    config = transformers.LlamaConfig(
        num_hidden_layers=8, hidden_size=2048, num_attention_heads=16, num_key_value_heads=16,
        intermediate_size=5504, max_position_embeddings=1024, use_cache=False)
    tokens = torch.randint(config.vocab_size, (4, 1024), generator=generator)
    return transformers.AutoModelForCausalLM, config, {"input_ids": tokens, "labels": tokens}


MODELS = {"gpt2": gpt2, "vit": vit, "llama": llama}


def train(name, options):
    """Trains one model on one batch; returns the line's object."""
    torch.manual_seed(SEED)
    auto_class, config, batch = MODELS[name](torch.Generator().manual_seed(SEED))
    model = auto_class.from_config(config, attn_implementation=options.attention)
    model = model.to(device="cuda", dtype=torch.float32).train()
    batch = {key: value.to("cuda") for key, value in batch.items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    torch.cuda.reset_peak_memory_stats()

    losses, spans = [], []
    for _ in range(options.warm_up + options.steps):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        end.record()
        losses.append(loss.detach())
        spans.append((start, end))
    torch.cuda.synchronize()

    free, total = torch.cuda.mem_get_info()
    times = [start.elapsed_time(end) for start, end in spans[options.warm_up:]]
    return {
        "model": name,
        "ms_step": statistics.median(times),
        "losses": [loss.item() for loss in losses],
        "peak_memory_bytes": torch.cuda.max_memory_allocated(),
        "device_memory_bytes": total - free,
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", choices=MODELS,
                        help="may be given several times; all by default")
    parser.add_argument("--attention", default="eager", choices=["eager", "sdpa"])
    parser.add_argument("--blas", choices=["cublas", "cublaslt"],
                        help="the library that PyTorch prefers; its own default if not given")
    parser.add_argument("--warm-up", type=int, default=3, help="steps that are not timed")
    parser.add_argument("--steps", type=int, default=8, help="timed steps")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("training.py: PyTorch finds no GPU")

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    if options.blas:
        torch.backends.cuda.preferred_blas_library(options.blas)
    for name in options.model or MODELS:
        print(json.dumps(train(name, options)), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
