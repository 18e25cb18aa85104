"""Writes the benchmark models, each as an asset and as ONNX, with inputs to run them on.

usage: models.py FOLDER [NAME...]

mlp      four dense layers of 1,024 with GELU between, a batch of 32
cnn      a classifier of 224 x 224 pictures: plain, depthwise and grouped convolutions, residual blocks
minilm   the sentence encoder all-MiniLM-L6-v2 at 128 tokens, with its trained weights
decode   one token through a decoder of GPT-2's shape: 12 layers, width 768, 12 heads, a cache of 256 positions, no
         vocabulary; each layer's caches are states in the asset, inputs and outputs in ONNX
decode_stacked  the same with the caches of all layers in two states, as an asset only

All but minilm have random weights from a fixed seed. FOLDER gets NAME.aimodel, NAME.onnx and NAME.npz (input_X,
state_X, and what torch makes of them: expected_X, expected_state_X).
"""

import math
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools/fixtures"))

import minilm  # noqa: E402
from convert import convert, metadata  # noqa: E402

WIDTH, HEADS, LAYERS, CONTEXT = 768, 12, 12, 256
CACHE = (1, HEADS, CONTEXT, WIDTH // HEADS)


def mlp():
    """Four dense layers, every one a product of 32 x 1024 and 1024 x 1024."""
    layers = []
    for _ in range(4):
        layers += [nn.Linear(1024, 1024), nn.GELU()]
    return nn.Sequential(*layers[:-1])


class Block(nn.Module):
    """Expands, filters each channel (or group of channels) by itself, contracts; adds its input where shapes allow."""

    def __init__(self, channels, outputs, stride=1, expand=4, group=1):
        super().__init__()
        inner = channels * expand
        self.layers = nn.Sequential(
            nn.Conv2d(channels, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU6(),
            nn.Conv2d(inner, inner, 3, stride, padding=1, groups=inner // group, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU6(),
            nn.Conv2d(inner, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.adds = stride == 1 and channels == outputs

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


class Residual(nn.Module):
    """Two plain 3 x 3 convolutions and a way around them."""

    def __init__(self, channels):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.layers(x))


def cnn():
    """0.88 G multiply-adds: two plain residual blocks, then blocks with groups of one channel (depthwise) or eight."""
    blocks = [Residual(64), Residual(64), Block(64, 96, 2), Block(96, 96), Block(96, 96, group=8)]
    blocks += [Block(96, 128, 2), Block(128, 128), Block(128, 128, group=8), Block(128, 192, 2), Block(192, 192)]
    made = nn.Sequential(
        nn.Conv2d(3, 32, 3, 2, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, 2, padding=1),
        nn.ReLU(),
        *blocks,
        nn.Conv2d(192, 768, 1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(768, 1000),
    )
    for layer in made.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight)
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.uniform_(layer.running_mean, -0.1, 0.1)
            nn.init.uniform_(layer.running_var, 0.5, 1.5)
    return made


class DecoderLayer(nn.Module):
    """A layer of GPT-2 for one token; gives the new key and value beside its output."""

    def __init__(self):
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.attend = nn.Linear(WIDTH, 3 * WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH)
        self.after = nn.LayerNorm(WIDTH)
        self.expand = nn.Linear(WIDTH, 4 * WIDTH)
        self.contract = nn.Linear(4 * WIDTH, WIDTH)

    def heads(self, x):
        query, key, value = self.attend(self.before(x)).split(WIDTH, dim=-1)
        return (part.view(1, 1, HEADS, -1).transpose(1, 2) for part in (query, key, value))

    def finish(self, x, query, keys, values, bias):
        scores = query @ keys.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + bias
        mixed = (torch.softmax(scores, dim=-1) @ values).transpose(1, 2).reshape(1, 1, WIDTH)
        x = x + self.project(mixed)
        return x + self.contract(F.gelu(self.expand(self.after(x)), approximate="tanh"))


class Decoder(nn.Module):
    """Token embedding and position in, hidden state out."""

    def __init__(self):
        super().__init__()
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)

    def start(self, token, position):
        places = torch.arange(CONTEXT, dtype=torch.int32, device=token.device)
        return token + self.positions(position), (places > position).to(torch.float32) * -1e9


class Stateful(nn.Module):
    """The decoder with the caches of each layer as buffers, which become states."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder
        for name in cache_names():
            self.register_buffer(name, torch.zeros(CACHE))

    def forward(self, token, position):
        x, bias = self.decoder.start(token, position)
        for number, layer in enumerate(self.decoder.layers):
            query, key, value = layer.heads(x)
            keys, values = getattr(self, f"keys_{number}"), getattr(self, f"values_{number}")
            keys.index_copy_(2, position, key)
            values.index_copy_(2, position, value)
            x = layer.finish(x, query, keys, values, bias)
        return self.decoder.norm(x)


class Stacked(nn.Module):
    """The same with the caches of all layers in two buffers."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder
        self.register_buffer("keys", torch.zeros(LAYERS, *CACHE))
        self.register_buffer("values", torch.zeros(LAYERS, *CACHE))

    def forward(self, token, position):
        x, bias = self.decoder.start(token, position)
        for number, layer in enumerate(self.decoder.layers):
            query, key, value = layer.heads(x)
            self.keys[number].index_copy_(2, position, key)
            self.values[number].index_copy_(2, position, value)
            x = layer.finish(x, query, self.keys[number], self.values[number], bias)
        return self.decoder.norm(x)


class Stateless(nn.Module):
    """The same with the caches going in and coming out, for ONNX."""

    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, token, position, *caches):
        x, bias = self.decoder.start(token, position)
        index = position.long().view(1, 1, 1, 1).expand(1, HEADS, 1, WIDTH // HEADS)
        written = []
        for number, layer in enumerate(self.decoder.layers):
            query, key, value = layer.heads(x)
            keys = caches[2 * number].scatter(2, index, key)
            values = caches[2 * number + 1].scatter(2, index, value)
            written += [keys, values]
            x = layer.finish(x, query, keys, values, bias)
        return self.decoder.norm(x), *written


def cache_names():
    """Each layer's caches, in the order of the stateless decoder's arguments."""
    return [f"{kind}_{number}" for number in range(LAYERS) for kind in ("keys", "values")]


def write_arrays(file, reference, inputs, outputs, states):
    """The inputs and states, and what the module `reference` makes of them."""
    with torch.no_grad():
        results = reference(*inputs.values(), *states.values())
    results = results if isinstance(results, tuple) else (results,)
    arrays = {f"input_{key}": value.numpy() for key, value in inputs.items()}
    arrays |= {f"state_{key}": value.numpy() for key, value in states.items()}
    names = [f"expected_{key}" for key in outputs] + [f"expected_state_{key}" for key in states]
    np.savez(file, **arrays, **{key: value.numpy() for key, value in zip(names, results, strict=True)})


def write_asset(file, module, inputs, outputs, states):
    """The asset."""
    names = {"inputs": list(inputs), "outputs": outputs, "states": list(states)}
    convert(module, inputs.values(), file, about=metadata(f"Benchmark model {file.stem}"), debug=True, **names)


def write(folder, name, module, inputs, outputs, states=None, stateless=None):
    """NAME.aimodel, NAME.onnx and NAME.npz; `inputs` and `states` map names to tensors."""
    states, stateless = states or {}, stateless or module
    write_arrays(folder / f"{name}.npz", stateless, inputs, outputs, states)
    write_asset(folder / f"{name}.aimodel", module, inputs, outputs, states)
    torch.onnx.export(
        stateless,
        (*inputs.values(), *states.values()),
        folder / f"{name}.onnx",
        input_names=[*inputs, *states],
        output_names=[f"new_{key}" for key in (*outputs, *states)],
        dynamo=True,
        external_data=False,
        verbose=False,
    )
    print(name, "written")


def write_mlp(folder):
    write(folder, "mlp", mlp().eval(), {"x": torch.randn(32, 1024)}, ["y"])


def write_cnn(folder):
    write(folder, "cnn", cnn().eval(), {"image": torch.randn(1, 3, 224, 224)}, ["scores"])


def write_minilm(folder):
    text = "The quick brown fox jumps over the lazy dog, and the dog, half asleep, hardly looks up. " * 6
    ids, mask = minilm.tokenize([text], minilm.LENGTH)
    inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
    write(folder, "minilm", minilm.model(), inputs, ["embedding"])


def decoder_inputs():
    """A token at position 200, and caches filled up to it."""
    filled = (torch.arange(CONTEXT) < 200).float()[:, None]
    inputs = {"token": torch.randn(1, 1, WIDTH), "position": torch.tensor([200], dtype=torch.int32)}
    return inputs, {name: torch.randn(CACHE) * filled for name in cache_names()}


def write_decode(folder):
    decoder = Decoder().eval()
    inputs, states = decoder_inputs()
    write(folder, "decode", Stateful(decoder).eval(), inputs, ["hidden"], states, Stateless(decoder).eval())


def write_stacked(folder):
    decoder = Decoder().eval()
    inputs, states = decoder_inputs()
    caches = list(states.values())
    stacked = {"keys": torch.stack(caches[::2]), "values": torch.stack(caches[1::2])}

    def reference(token, position, keys, values):
        pairs = [cache for pair in zip(keys, values) for cache in pair]
        hidden, *written = Stateless(decoder)(token, position, *pairs)
        return hidden, torch.stack(written[::2]), torch.stack(written[1::2])

    write_arrays(folder / "decode_stacked.npz", reference, inputs, ["hidden"], stacked)
    write_asset(folder / "decode_stacked.aimodel", Stacked(decoder).eval(), inputs, ["hidden"], stacked)
    print("decode_stacked written")


WRITERS = {
    "mlp": write_mlp,
    "cnn": write_cnn,
    "minilm": write_minilm,
    "decode": write_decode,
    "decode_stacked": write_stacked,
}


def main(folder, names):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or WRITERS:
        torch.manual_seed(3)
        WRITERS[name](folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
