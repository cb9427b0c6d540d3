"""Models for tables, click rates, series and audio."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch


def _make(path: str, *args: Any, **options: Any) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(*args, **options)


def _tsai(name: str, args: tuple[Any, ...], **options: Any) -> tuple[Any, list[Any]]:
    return _make(f"tsai.models.{name}", *args, **options), [(torch.randn(b, 3, 24),) for b in (2, 3)]


def _tabnet() -> tuple[Any, list[Any]]:
    model = _make(
        "pytorch_tabnet.tab_network.TabNet", 8, 2, n_steps=2, n_d=4, n_a=4, group_attention_matrix=torch.eye(8)
    )
    return model, [(torch.randn(b, 8),) for b in (16, 24)]


def _tabnet_pretraining() -> tuple[Any, list[Any]]:
    model = _make(
        "pytorch_tabnet.tab_network.TabNetPretraining", 8, n_steps=2, n_d=4, n_a=4, group_attention_matrix=torch.eye(8)
    )
    return model, [(torch.randn(b, 8),) for b in (16, 24)]


def _deepctr(name: str, **options: Any) -> tuple[Any, list[Any]]:
    inputs = importlib.import_module("deepctr_torch.inputs")
    columns = [inputs.SparseFeat(f"s{i}", vocabulary_size=8, embedding_dim=4) for i in range(3)]
    columns += [inputs.DenseFeat(f"d{i}", 1) for i in range(2)]
    model = _make(f"deepctr_torch.models.{name}", columns, columns, **options)
    return model, [(torch.cat([torch.randint(0, 8, (b, 3)).float(), torch.rand(b, 2)], 1),) for b in (4, 6)]


def _julius(name: str, *args: Any) -> tuple[Any, list[Any]]:
    return _make(f"julius.{name}", *args), [(torch.randn(2, n),) for n in (2000, 2400)]


def _xlstm() -> tuple[Any, list[Any]]:
    x = importlib.import_module("xlstm")
    block = x.mLSTMBlockConfig(mlstm=x.mLSTMLayerConfig(conv1d_kernel_size=4, qkv_proj_blocksize=4, num_heads=2))
    model = x.xLSTMBlockStack(
        x.xLSTMBlockStackConfig(mlstm_block=block, context_length=16, num_blocks=2, embedding_dim=16)
    )
    return model, [(torch.randn(2, 16, 16),)]


def _chronos() -> tuple[Any, list[Any]]:
    bolt = importlib.import_module("chronos.chronos_bolt")
    transformers = importlib.import_module("transformers")
    config = transformers.T5Config(
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_decoder_layers=1,
        num_heads=2,
        vocab_size=2,
        pad_token_id=0,
        decoder_start_token_id=0,
        is_gated_act=False,
    )
    config.chronos_config = {
        "context_length": 64,
        "prediction_length": 8,
        "input_patch_size": 8,
        "input_patch_stride": 8,
        "quantiles": [0.1, 0.5, 0.9],
        "use_reg_token": True,
    }
    model = bolt.ChronosBoltModelForForecasting(config)
    return model, [{"context": torch.rand(2, n), "target": torch.rand(2, 8)} for n in (32, 44)]


def _forecasting(name: str, *inputs: Any) -> tuple[Any, list[Any]]:
    return _make(f"pytorch_forecasting.metrics.{name}"), list(inputs)


def _lightning_metric() -> tuple[Any, list[Any]]:
    module = importlib.import_module("lightning.pytorch.demos.transformer")
    model = module.Transformer(vocab_size=32, ninp=16, nhead=2, nhid=32, nlayers=1)
    return model, [(torch.randint(0, 32, (2, n)), torch.randint(0, 32, (2, n))) for n in (8, 12)]


def _submodule(path: str, options: dict[str, Any], *inputs: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    return _make(path, **options), list(inputs)


MODELS = {
    **{
        f"tsai/{name.rpartition('.')[2]}": partial(_tsai, name, args)
        for name, args in (
            ("InceptionTime.InceptionTime", (3, 2)),
            ("FCN.FCN", (3, 2)),
            ("TST.TST", (3, 2, 24)),
            ("ROCKET_Pytorch.ROCKET", (3, 24, 20)),
            ("MINIROCKET_Pytorch.MiniRocketFeatures", (3, 24)),
            ("OmniScaleCNN.OmniScaleCNN", (3, 2, 24)),
            ("XceptionTime.XceptionTime", (3, 2)),
            ("TSPerceiver.TSPerceiver", (3, 2, 24)),
            ("RNN.LSTM", (3, 2)),
            ("TCN.TCN", (3, 2)),
            ("gMLP.gMLP", (3, 2, 24)),
        )
    },
    "pytorch_tabnet/TabNet": _tabnet,
    "pytorch_tabnet/TabNetPretraining": _tabnet_pretraining,
    **{
        f"deepctr_torch/{name.rpartition('.')[2]}": partial(_deepctr, name)
        for name in ("deepfm.DeepFM", "dcn.DCN", "xdeepfm.xDeepFM", "autoint.AutoInt", "afm.AFM", "nfm.NFM")
    },
    "julius/LowPassFilter": partial(_julius, "LowPassFilter", 0.2),
    "julius/SplitBands": partial(_julius, "SplitBands", 1000, 3),
    "julius/ResampleFrac": partial(_julius, "ResampleFrac", 4, 5),
    "xlstm/xLSTMBlockStack": _xlstm,
    "chronos/ChronosBolt": _chronos,
    "pytorch_forecasting/QuantileLoss": partial(
        _forecasting,
        "QuantileLoss",
        (torch.rand(2, 5, 7), (torch.rand(2, 5), None)),
        (torch.rand(3, 4, 7), (torch.rand(3, 4), None)),
    ),
    "pytorch_forecasting/SMAPE": partial(_forecasting, "SMAPE", (torch.rand(2, 5), (torch.rand(2, 5), None))),
    "pytorch_forecasting/MASE": partial(
        _forecasting, "MASE", (torch.rand(2, 5), torch.rand(2, 5), torch.rand(2, 8), torch.tensor([8, 6]))
    ),
    "pytorch_forecasting/VariableSelection": partial(
        _submodule,
        "pytorch_forecasting.models.temporal_fusion_transformer.sub_modules.VariableSelectionNetwork",
        {"input_sizes": {"a": 4, "b": 4}, "hidden_size": 8},
        ({"a": torch.randn(2, 5, 4), "b": torch.randn(2, 5, 4)}, torch.randn(2, 5, 8)),
    ),
    "lightning/Transformer": _lightning_metric,
}
