"""Models of joeynmt, gcastle, cherry-rl, deepod and synthcity.

They were chosen after all of the twenty-fourth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter, without_packages

_t, _u, _i = random_inputs(91)
_ABSENT = {
    "joeynmt": ("sacrebleu", "sentencepiece", "subword_nmt", "datasets", "matplotlib", "importlib_metadata"),
    "castle": ("mindspore", "igraph", "loguru"),
    "cherry": ("gym", "tensorboardX", "dm_control", "visdom"),
    "deepod": ("sktime",),
    "synthcity": (
        *("loguru", "cloudpickle", "opacus", "tsai", "geomloss", "xgboost", "lifelines", "optuna", "redis", "pycox"),
        *("be_great", "arfpy", "nflows", "torchcde", "torchdiffeq", "shap", "fflows", "monai", "importlib_metadata"),
        *(
            "dgl",
            "deepecho",
            "igraph",
            "pgmpy",
            "decaf",
            "rdt",
            "copulas",
            "fastcore",
            "xgbse",
            "pykeops",
            "torchtuples",
            "torch_sparse",
            "torchvision",
            "dython",
        ),
    ),
}
_BARE = (
    "joeynmt",
    "castle",
    "castle.algorithms",
    "castle.algorithms.gradient",
    "castle.algorithms.gradient.notears",
    "castle.algorithms.gradient.notears.torch",
    "castle.algorithms.gradient.gae",
    "castle.algorithms.gradient.mcsl",
    "castle.algorithms.gradient.corl",
    "castle.algorithms.gradient.corl.torch",
    "castle.algorithms.gradient.dag_gnn",
    "castle.algorithms.gradient.gran_dag",
    "deepod",
    "deepod.core",
    "deepod.models",
    "deepod.models.tabular",
    "deepod.models.time_series",
    "synthcity",
    "synthcity.plugins",
    "synthcity.plugins.core",
    "synthcity.plugins.core.models",
    "synthcity.metrics",
    "synthcity.metrics.representations",
)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "joeynmt":
        sys.modules.setdefault("torch.utils.tensorboard", _Absent("torch.utils.tensorboard"))
    if package == "synthcity":  # it is older than this NumPy
        np.trapz = np.trapezoid  # type: ignore[attr-defined]
    if package == "castle":  # it makes doubles of all numbers when it is imported
        importlib.import_module("castle.algorithms.gradient.notears.torch.models")
        torch.set_default_dtype(torch.float32)


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_J = "joeynmt."
_SRC = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 1, 1]])
_SRC_MASK = (_SRC != 1).unsqueeze(1)
_TRG = torch.tensor([[2, 5, 6, 3], [2, 9, 3, 1]])
_TRG_MASK = (_TRG != 1).unsqueeze(1)


class _Vocabulary(list):  # type: ignore[type-arg]
    """Words of a model that translates."""

    pad_index, bos_index, eos_index, sep_index, unk_index = 1, 2, 3, 4, 0
    specials: tuple[str, ...] = ()
    lang_tags: tuple[str, ...] = ()

    def lookup(self, token: str) -> int:
        """The number of a word."""
        return self.index(token)


def _translator(kind: str) -> Any:
    """A small model that translates."""
    words = _Vocabulary(f"w{n}" for n in range(12))
    embed = _get(_J + "embeddings.Embeddings")
    source, target = embed(16, True, 12, 1), embed(16, True, 12, 1)
    if kind == "transformer":
        encoder = _get(_J + "encoders.TransformerEncoder")(16, 32, 2, 2, 0.0, 0.0)
        decoder = _get(_J + "decoders.TransformerDecoder")(2, 2, 16, 32, 0.0, 0.0, 12)
    else:
        encoder = _get(_J + "encoders.RecurrentEncoder")("gru", 8, 16, 1, 0.0, 0.0, True)
        decoder = _get(_J + "decoders.RecurrentDecoder")(
            "gru", 16, 16, encoder, "luong" if kind == "luong" else "bahdanau", 1, 12, 0.0, 0.0, 0.0, "bridge"
        )
    model = _get(_J + "model.Model")(encoder, decoder, source, target, words, words)
    model.loss_function = ("crossentropy", 0.1)
    return model


def _translated(kind: str, returned: str) -> Built:
    """A loss, or a code, of sentences."""
    model = _translator(kind)
    given = {
        "return_type": returned,
        "src": _SRC,
        "src_length": torch.tensor([5, 3]),
        "src_mask": _SRC_MASK,
        "trg_input": _TRG,
        "trg": torch.tensor([[5, 6, 3, 1], [9, 3, 1, 1]]),
        "trg_mask": _TRG_MASK,
    }
    return model, [given]


def _searched(kind: str, size: int, **options: Any) -> Built:
    """Sentences that a model finds."""
    model = _translator(kind).eval()
    batch = _batch(_get(_J + "batch.Batch"))
    search = _get(_J + "search.search")
    return held(
        model, lambda m, n: search(m, batch, max_output_length=n, beam_size=size, beam_alpha=0.5, **options), (4,)
    )


def _batch(kind: Any) -> Any:
    """A batch of sentences."""
    return kind(_SRC, torch.tensor([5, 3]), None, _TRG, None, torch.arange(2), torch.device("cpu"), 1, 3, True)


def _attended(kind: str) -> Built:
    """Attention of a decoder that takes a step."""
    made = _get(_J + "attention." + kind)(hidden_size=8, key_size=16, **({"query_size": 8} if "Bah" in kind else {}))

    def use(attention: Any, query: torch.Tensor, values: torch.Tensor) -> Any:
        attention.compute_proj_keys(keys=values)
        if "Bah" in kind:
            attention.compute_proj_query(query)
        return attention(query, mask=_SRC_MASK, values=values)

    return held(made, use, (_t(2, 1, 8), _t(2, 5, 16)))


_CG = "castle.algorithms.gradient."
_W = torch.tensor([[0.0, 0.8, 0.0], [0.0, 0.0, -0.5], [0.0, 0.0, 0.0]])
_GOLEM = {"lambda_1": 0.1, "lambda_2": 1.0}


def _scored(mode: str, kind: str, regression: str) -> Built:
    """Rewards of graphs in the order of their nodes."""
    made = _get(_CG + "corl.torch.frame._reward.Reward")(
        _t(12, 4).numpy(), reward_mode=mode, score_type=kind, regression_type=regression
    )
    orders = torch.tensor([[2, 0, 1, 3], [3, 1, 0, 2]])
    graphs = torch.triu(torch.ones(4, 4), 1)[None].repeat(2, 1, 1).numpy()
    return held(made, lambda m: m.cal_rewards(graphs, orders.numpy()), ())


_CH = "cherry."


def _replayed(use: Callable[[Any], Any], size: int = 5) -> Built:
    """Uses of what an agent has seen."""
    replay = _get(_CH + "experience_replay.ExperienceReplay")()
    for n in range(size):
        replay.append(_t(1, 4), _t(1, 2), torch.tensor([[float(n)]]), _t(1, 4), torch.tensor([[float(n == size - 1)]]))
    return held(replay, use, ())


class _Policy(nn.Module):
    """A policy that draws from a normal distribution."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, state: torch.Tensor) -> torch.distributions.Distribution:
        """What actions are likely."""
        return torch.distributions.Normal(self.layer(state), 1.0)


def _acted(path: str, use: Callable[[Any, torch.Tensor], Any], *given: Any, **options: Any) -> Built:
    """A use of a distribution of actions that stands on what is given."""
    kind = _get(path)
    return (lambda x: use(kind(x, *given, **options), x)), [(_t(5, 3),)]


_D, _DT, _DS = "deepod.core.", "deepod.models.tabular.", "deepod.models.time_series."
_DN = "deepod.core.base_networks."
_SERIES = _t(2, 12, 3)


def _attention(kind: str, **options: Any) -> Built:
    """A layer of attention of time series."""
    inner = _get(_D + "transformer.selfattention_family." + kind)(attention_dropout=0.0, **options)
    layer = _get(_D + "transformer.selfattention_family.AttentionLayer")(inner, 16, 2)
    return held(layer, lambda m, x: m(x, x, x, None), (_t(2, 8, 16),))


_S = "synthcity.plugins.core.models."
_CPU = {"device": "cpu"}


def _fitted(path: str, *given: Any, **options: Any) -> Built:
    """A model that is fitted for one step, and then draws."""
    made = _get(path)(*given, **options)

    def use(model: Any, x: torch.Tensor) -> Any:
        model.fit(x)
        return model.generate(3)

    return held(made, use, (_t(8, 5),))


MODELS: dict[str, Callable[[], Built]] = {}

_JOEY: dict[str, Callable[[], Built]] = {
    "Model transformer": lambda: _translated("transformer", "loss"),
    "Model recurrent": lambda: _translated("bahdanau", "encode"),
    "Model encode": lambda: _translated("transformer", "encode"),
    "RecurrentDecoder bahdanau": lambda: _recurrent("bahdanau"),
    "RecurrentDecoder luong": lambda: _recurrent("luong"),
    "search greedy": lambda: _searched("transformer", 1),
    "search greedy options": lambda: _searched(
        "transformer", 1, min_output_length=2, repetition_penalty=1.2, no_repeat_ngram_size=2, return_prob="hyp"
    ),
    "search beam": lambda: _searched("transformer", 2),
    "search beam recurrent": lambda: _searched("bahdanau", 2, n_best=2),
    "search greedy recurrent": lambda: _searched("luong", 1, return_attention=True),
    "Batch": lambda: _using(_J + "batch.Batch", lambda kind: _batch(kind).trg_mask, ()),
    "Batch sort": lambda: _using(_J + "batch.Batch", lambda kind: _batch(kind).sort_by_src_length(), ()),
    "Batch normalize": lambda: _using(
        _J + "batch.Batch", lambda kind, x: _batch(kind).normalize(x, "tokens"), (_t(1),)
    ),
    "BahdanauAttention": lambda: _attended("BahdanauAttention"),
    "LuongAttention": lambda: _attended("LuongAttention"),
    "XentLoss": lambda: _loss(0.0),
    "XentLoss smooth": lambda: _loss(0.1),
    "Embeddings": lambda: _made(_J + "embeddings.Embeddings", [(_SRC,)], 16, True, 12, 1),
    "RecurrentEncoder": lambda: (
        _get(_J + "encoders.RecurrentEncoder")("lstm", 8, 6, 1, 0.0, 0.0, True),
        [(_t(2, 5, 6), torch.tensor([5, 3]), _SRC_MASK)],
    ),
    "TransformerEncoder": lambda: (
        _get(_J + "encoders.TransformerEncoder")(16, 32, 1, 2, 0.0, 0.0),
        [(_t(2, 5, 16), torch.tensor([5, 3]), _SRC_MASK)],
    ),
    "PositionalEncoding": lambda: _made(_J + "transformer_layers.PositionalEncoding", [(_t(2, 5, 16),)], 16, 40),
    "MultiHeadedAttention": lambda: (
        _get(_J + "transformer_layers.MultiHeadedAttention")(2, 16, 0.0),
        [(_t(2, 5, 16), _t(2, 5, 16), _t(2, 4, 16), _SRC_MASK, True)],
    ),
    "PositionwiseFeedForward": lambda: _made(
        _J + "transformer_layers.PositionwiseFeedForward", [(_t(2, 5, 16),)], 16, 32, layer_norm="pre"
    ),
    "subsequent_mask": lambda: _call(_J + "helpers.subsequent_mask", (5,)),
    "tile": lambda: _call(_J + "helpers.tile", (_t(2, 3), 2)),
    "tile lists": lambda: _call(_J + "helpers.tile", ((_t(1, 2, 3), _t(1, 2, 3)), 2), dim=1),
    "adjust_mask_size": lambda: _call(_J + "helpers.adjust_mask_size", (_TRG != 1, 2, 3)),
    "adjust_mask_size longer": lambda: _call(_J + "helpers.adjust_mask_size", (_TRG != 1, 2, 7)),
    "block_repeat_ngrams": lambda: _call(
        _J + "search.block_repeat_ngrams",
        (torch.tensor([[4, 5, 4, 5, 4]]), _t(1, 12), 2, 4),
        src_tokens=None,
        exclude_tokens=[1],
    ),
    "penalize_repetition": lambda: _call(_J + "search.penalize_repetition", (_SRC, _t(2, 12), 1.3)),
    "penalize_repetition exclude": lambda: _call(
        _J + "search.penalize_repetition", (_SRC, _t(2, 12), 1.3), exclude_tokens=[1, 3]
    ),
    "orthogonal_rnn_init_": lambda: _init(_J + "initialization.orthogonal_rnn_init_", nn.GRU(4, 6)),
    "lstm_forget_gate_init_": lambda: _init(_J + "initialization.lstm_forget_gate_init_", nn.LSTM(4, 6)),
    "xavier_uniform_n_": lambda: _call(_J + "initialization.xavier_uniform_n_", (_t(6, 4),), n=3),
}


def _recurrent(kind: str) -> Built:
    """A recurrent decoder that takes steps."""
    model = _translator(kind).eval()
    return held(
        model.decoder,
        lambda m, x, y, h: m(x, encoder_output=y, encoder_hidden=h, src_mask=_SRC_MASK, unroll_steps=3),
        (_t(2, 3, 16), _t(2, 5, 16), _t(2, 16)),
    )


def _loss(smoothing: float) -> Built:
    """A loss of words."""
    made = _get(_J + "loss.XentLoss")(1, smoothing)
    return held(made, lambda m, x: m(x, trg=_TRG), (torch.log_softmax(_t(2, 4, 12), -1),))


def _init(path: str, layer: nn.Module) -> Built:
    """Weights that a function sets."""
    function = _get(path)
    return held(layer, lambda m: function(m), ())


_CASTLE: dict[str, Callable[[], Built]] = {
    "MLPModel": lambda: _made(_CG + "notears.torch.models.MLPModel", [(_t(6, 4),)], [4, 5, 1]),
    "MLPModel h_func": lambda: _method(_CG + "notears.torch.models.MLPModel", "h_func", [()], [4, 5, 1]),
    "MLPModel l2_reg": lambda: _method(_CG + "notears.torch.models.MLPModel", "l2_reg", [()], [4, 5, 1]),
    "MLPModel fc1_to_adj": lambda: _method(_CG + "notears.torch.models.MLPModel", "fc1_to_adj", [()], [4, 5, 1]),
    "SobolevModel": lambda: _made(_CG + "notears.torch.models.SobolevModel", [(_t(6, 4),)], 4, 3),
    "SobolevModel h_func": lambda: _method(_CG + "notears.torch.models.SobolevModel", "h_func", [()], 4, 3),
    "SobolevModel basis": lambda: _method(
        _CG + "notears.torch.models.SobolevModel", "sobolev_basis", [(_t(6, 4),)], 4, 3
    ),
    "squared_loss": lambda: _call(_CG + "notears.torch.models.squared_loss", (_t(4, 3), _t(4, 3))),
    "LocallyConnected": lambda: _made(
        _CG + "notears.torch.utils.locally_connected.LocallyConnected", [(_t(6, 4, 3),)], 4, 3, 2
    ),
    "GolemModel": lambda: _made(
        _CG + "notears.torch.golem_utils.golem_model.GolemModel",
        [(_t(8, 3),)],
        8,
        3,
        **_GOLEM,
        equal_variances=True,
        device=torch.device("cpu"),
    ),
    "GolemModel unequal": lambda: _made(
        _CG + "notears.torch.golem_utils.golem_model.GolemModel",
        [(_t(8, 3),)],
        8,
        3,
        **_GOLEM,
        equal_variances=False,
        device=torch.device("cpu"),
    ),
    "AutoEncoder gae": lambda: _made(
        _CG + "gae.torch.models.model.AutoEncoder", [(_t(6, 4, 1),)], 4, 1, device=torch.device("cpu")
    ),
    "compute_h gae": lambda: _call(_CG + "gae.torch.trainers.al_trainer.compute_h", (_W,)),
    "convert_logits_to_sigmoid": lambda: _call(_CG + "mcsl.torch.helpers.utils.convert_logits_to_sigmoid", (_t(4, 4),)),
    "compute_acyclicity": lambda: _call(_CG + "mcsl.torch.helpers.utils.compute_acyclicity", (_W,)),
    "sample_gumbel": lambda: _call(_CG + "mcsl.torch.helpers.utils.sample_gumbel", ((3, 3),)),
    "gumbel_sigmoid": lambda: _call(
        _CG + "mcsl.torch.helpers.utils.gumbel_sigmoid", (_t(3, 3), 0.5, 3, torch.device("cpu"))
    ),
    "generate_upper_triangle_indices": lambda: _call(
        _CG + "mcsl.torch.helpers.utils.generate_upper_triangle_indices", (4,)
    ),
    "callback_after_training": lambda: _call(
        _CG + "mcsl.torch.helpers.utils.callback_after_training", (_t(3, 3), 0.5, 0.5)
    ),
    "MaskedModel nn": lambda: _masked("nn"),
    "MaskedModel qr": lambda: _masked("qr"),
    "DAG-GNN Encoder": lambda: _dag_encoder(),
    "DAG-GNN Decoder": lambda: (
        _get(_CG + "dag_gnn.torch.models.modules.Decoder")(1, 8, 1),
        [(_t(4, 3, 1), _W, _t(1))],
    ),
    "kl_gaussian_sem": lambda: _call(_CG + "dag_gnn.torch.utils.functions.kl_gaussian_sem", (_t(4, 3),)),
    "nll_gaussian": lambda: _call(_CG + "dag_gnn.torch.utils.functions.nll_gaussian", (_t(4, 3), _t(4, 3), 0.5)),
    "a_connect_loss": lambda: _call(_CG + "dag_gnn.torch.utils.functions.a_connect_loss", (_W, 0.1, torch.tensor(0.2))),
    "a_positive_loss": lambda: _call(_CG + "dag_gnn.torch.utils.functions.a_positive_loss", (_W, torch.tensor(0.2))),
    "_h_A": lambda: _call(_CG + "dag_gnn.torch.utils.functions._h_A", (_W, 3)),
    "matrix_poly": lambda: _call(_CG + "dag_gnn.torch.utils.functions.matrix_poly", (_W, 3)),
    "NonlinearGauss likelihood": lambda: _gran("NonlinearGauss", lambda m, x: _likelihood(m, x)),
    "NonlinearGaussANM likelihood": lambda: _gran("NonlinearGaussANM", lambda m, x: _likelihood(m, x)),
    "NonlinearGaussANM adjacency": lambda: _gran("NonlinearGaussANM", lambda m, _: m.get_w_adj()),
    "NonlinearGaussANM paths none": lambda: _gran("NonlinearGaussANM", lambda m, _: m.get_w_adj(), norm_prod="none"),
    "NonlinearGaussANM grad norm": lambda: _gran("NonlinearGaussANM", lambda m, _: m.get_parameters(mode="wbx")),
    "gran_dag is_acyclic": lambda: _call(_CG + "gran_dag.torch.base.dag_optimizer.is_acyclic", (_W.abs().double(),)),
    "gran_dag compute_constraint": lambda: _gran(
        "NonlinearGaussANM",
        lambda m, _: _get(_CG + "gran_dag.torch.base.dag_optimizer.compute_constraint")(m, m.get_w_adj()),
    ),
    "gran_dag compute_A_phi": lambda: _gran(
        "NonlinearGaussANM",
        lambda m, _: _get(_CG + "gran_dag.torch.base.dag_optimizer.compute_A_phi")(m, norm="paths", square=True),
    ),
    "CORL LSTMEncoder": lambda: _made(_CG + "corl.torch.models.encoders.LSTMEncoder", [(_t(2, 4, 8),)], 8, 6),
    "CORL MLPEncoder": lambda: _made(_CG + "corl.torch.models.encoders.MLPEncoder", [(_t(2, 4, 8),)], 8, 6, 10),
    "CORL TransformerEncoder": lambda: _made(
        _CG + "corl.torch.models.encoders.TransformerEncoder", [(_t(2, 4, 8),)], 8, 8, 16, 2, 1
    ),
    "CORL LSTMDecoder": lambda: _made(_CG + "corl.torch.models.decoders.LSTMDecoder", [(_t(4, 4, 8),)], 8, 8),
    "CORL MLPDecoder": lambda: _made(_CG + "corl.torch.models.decoders.MLPDecoder", [(_t(4, 4, 8),)], 8, 8),
    "episodic_actor_loss": lambda: _call(
        _CG + "corl.torch.frame.score_function.episodic_actor_loss", (_t(4, 3), _t(3, 4), _t(5, 3))
    ),
    "dense_actor_loss": lambda: _call(
        _CG + "corl.torch.frame.score_function.dense_actor_loss", (_t(4), _t(4), _t(4), _t(4))
    ),
    "dense_critic_loss": lambda: _call(
        _CG + "corl.torch.frame.score_function.dense_critic_loss", (_t(4), _t(4), _t(4))
    ),
    "EpisodicCritic": lambda: _method(
        _CG + "corl.torch.frame._critic.EpisodicCritic", "predict_env", [(_t(2, 4, 6),)], 6, (5, 4, 1)
    ),
    "EpisodicCritic soft": lambda: _method(
        _CG + "corl.torch.frame._critic.EpisodicCritic", "soft_replacement", [()], 6, (5, 4, 1)
    ),
    "DenseCritic": lambda: _method(
        _CG + "corl.torch.frame._critic.DenseCritic", "predict_reward", [(_t(2, 4, 6),)], 6, 5
    ),
    "Reward LR": lambda: _scored("episodic", "BIC", "LR"),
    "Reward LR dense": lambda: _scored("dense", "BIC_different_var", "LR"),
    "get_graph_from_order": lambda: _call(_CG + "corl.torch.utils.graph_analysis.get_graph_from_order", ([2, 0, 1],)),
    "PNL MLP": lambda: _made(_CG + "pnl.torch.pnl.MLP", [(_t(4, 3),)], 3, 1, 5, 1, activation=nn.LeakyReLU(0.1)),
}


def _masked(kind: str) -> Built:
    """A model whose graph is drawn."""
    made = _get(_CG + "mcsl.torch.models.masked_model.MaskedModel")(
        kind, 6, 3, torch.ones(3, 3), 2, 4, 0.01, 1, torch.device("cpu")
    )
    return made, [(_t(6, 3), 1.0, 0.5, 0.3)]


def _dag_encoder() -> Built:
    """An encoder of a graph that is learned."""
    made = _get(_CG + "dag_gnn.torch.models.modules.Encoder")(1, 8, 1, torch.zeros(3, 3))
    return made, [(_t(4, 3, 1),)]


def _gran(kind: str, use: Callable[..., Any], **options: Any) -> Built:
    """A use of a model of mechanisms."""
    made = _get(_CG + f"gran_dag.torch.base.base_model.{kind}")(
        3, 2, 5, 2 if kind == "NonlinearGauss" else 1, **options
    )
    made.reset_params()
    return held(made, use, (_t(6, 3),))


def _likelihood(model: Any, x: torch.Tensor) -> Any:
    """What is likely, given all parameters."""
    return model.compute_log_likelihood(x, *model.get_parameters(mode="wbx"))


_CHERRY: dict[str, Callable[[], Built]] = {
    "totensor": lambda: _call(_CH + "_torch.totensor", ([1.0, 2.0],), (3.0,), (_t(3),)),
    "normalize": lambda: _call(_CH + "_torch.normalize", (_t(6),), (_t(1),)),
    "discount": lambda: _call(_CH + "td.discount", (0.9, _t(6, 1), torch.zeros(6, 1)), (0.9, _t(6), torch.zeros(6))),
    "discount bootstrap": lambda: _call(_CH + "td.discount", (0.9, _t(4, 1), torch.zeros(4, 1), _t(1))),
    "temporal_difference": lambda: _call(
        _CH + "td.temporal_difference", (0.9, _t(5, 1), torch.zeros(5, 1), _t(5, 1), _t(5, 1))
    ),
    "generalized_advantage": lambda: _call(
        _CH + "pg.generalized_advantage", (0.9, 0.95, _t(5, 1), torch.zeros(5, 1), _t(5, 1), _t(1))
    ),
    "A2C policy": lambda: _loss_of("a2c.A2C", "policy_loss", _t(5, 1), _t(5, 1)),
    "A2C value": lambda: _loss_of("a2c.A2C", "state_value_loss", _t(5, 1), _t(5, 1)),
    "PPO policy": lambda: _loss_of("ppo.PPO", "policy_loss", _t(5, 1), _t(5, 1), _t(5, 1)),
    "PPO value": lambda: _loss_of("ppo.PPO", "state_value_loss", _t(5, 1), _t(5, 1), _t(5, 1)),
    "DDPG value": lambda: _loss_of("ddpg.DDPG", "state_value_loss", _t(5, 1), _t(5, 1), _t(5, 1), _u(5, 1), 0.9),
    "SAC policy": lambda: _loss_of("sac.SAC", "policy_loss", _t(5, 1), _t(5, 1)),
    "SAC value": lambda: _loss_of("sac.SAC", "state_value_loss", _t(5, 1), _t(5, 1), _t(5, 1)),
    "SAC action value": lambda: _loss_of(
        "sac.SAC", "action_value_loss", _t(5, 1), _t(5, 1), _t(5, 1), torch.zeros(5, 1), 0.9
    ),
    "SAC entropy": lambda: _loss_of("sac.SAC", "entropy_weight_loss", _t(1), _t(5, 1), -2.0),
    "TRPO policy": lambda: _loss_of("trpo.TRPO", "policy_loss", _t(5, 1), _t(5, 1), _t(5, 1)),
    "TRPO conjugate_gradient": lambda: _gradient(),
    "TRPO hessian_vector_product": lambda: _hessian(),
    "RandomShiftsAug": lambda: _made(_CH + "algorithms.drq.RandomShiftsAug", [(_u(2, 3, 8, 8),)], 2),
    "TanhNormal": lambda: _using(
        _CH + "distributions.TanhNormal",
        lambda kind, x, y: kind(x, y).sample_and_log_prob(),
        (_t(5, 3), _u(5, 3) + 0.1),
    ),
    "TanhNormal log_prob": lambda: _using(
        _CH + "distributions.TanhNormal",
        lambda kind, x, y: kind(x, y).log_prob(torch.tanh(x)),
        (_t(5, 3), _u(5, 3) + 0.1),
    ),
    "TanhNormal mode": lambda: _using(
        _CH + "distributions.TanhNormal", lambda kind, x, y: (kind(x, y).mode(), kind(x, y).mean), (_t(5, 3), _u(5, 3))
    ),
    "Normal": lambda: _using(
        _CH + "distributions.Normal",
        lambda kind, x, y: (kind(x, y).log_prob(x), kind(x, y).entropy()),
        (_t(5, 3), _u(5, 3) + 0.1),
    ),
    "Categorical": lambda: _using(
        _CH + "distributions.Categorical",
        lambda kind, x: (kind(logits=x).sample(), kind(logits=x).mode(), kind(logits=x).log_prob(torch.zeros(5, 1))),
        (_t(5, 3),),
    ),
    "Reparameterization": lambda: _using(
        _CH + "distributions.Reparameterization",
        lambda kind, x: kind(torch.distributions.Normal(x, 1.0)).sample(),
        (_t(5, 3),),
    ),
    "ExperienceReplay sample": lambda: _replayed(lambda r: r.sample(3).state()),
    "ExperienceReplay episodes": lambda: _replayed(lambda r: r.sample(1, episodes=True).state()),
    "ExperienceReplay rewards": lambda: _replayed(lambda r: r.reward().sum()),
    "ExperienceReplay contiguous": lambda: _replayed(lambda r: r.sample(2, contiguous=True).done()),
    "ExperienceReplay to": lambda: _replayed(lambda r: r.to(torch.float64).action()),
    "NatureFeatures": lambda: _made(_CH + "models.atari.NatureFeatures", [(_u(1, 4, 84, 84) * 255,)], 4, 16),
    "RoboticsMLP": lambda: _made(_CH + "models.robotics.RoboticsMLP", [(_t(3, 4),)], 4, 2, [8]),
    "RoboticsActor": lambda: held(
        _get(_CH + "models.robotics.RoboticsActor")(4, 2, [8]), lambda m, x: m(x), (_t(3, 4),)
    ),
    "LinearValue": lambda: held(
        _get(_CH + "models.robotics.LinearValue")(4), lambda m, x, y: (m.fit(x, y), m(x)), (_t(6, 4), _t(6, 1))
    ),
    "StateValueFunction": lambda: _made(_CH + "models.tabular.StateValueFunction", [(torch.eye(4)[:2],)], 4),
    "ActionValueFunction": lambda: _made(
        _CH + "models.tabular.ActionValueFunction", [(torch.eye(4)[:2],), (torch.eye(4)[:2], torch.eye(3)[:2])], 4, 3
    ),
    "polyak_average": lambda: _polyak(),
    "Twin": lambda: held(
        _get(_CH + "nn.action_value.Twin")(_Value(), _Value()),
        lambda m, x, y: (m(x, y), m.twin(x, y)),
        (_t(3, 4), _t(3, 2)),
    ),
    "EpsilonGreedy": lambda: held(_get(_CH + "nn.epsilon_greedy.EpsilonGreedy")(0.1), lambda m, x: m(x), (_t(4, 3),)),
    "EpsilonGreedy log_prob": lambda: held(
        _get(_CH + "nn.epsilon_greedy.EpsilonGreedy")(0.1, True),
        lambda m, x: m(x),
        (_t(4, 3),),
    ),
    "MLP": lambda: _made(_CH + "nn.mlp.MLP", [(_t(3, 4),)], 4, 2, [8, 8]),
    "RoboticsLinear": lambda: _made(_CH + "nn.robotics_layers.RoboticsLinear", [(_t(3, 4),)], 4, 2),
    "Lambda": lambda: _made(_CH + "nn.misc.Lambda", [(_t(3, 4),)], torch.relu),
    "ci95": lambda: _call(_CH + "plot.ci95", ([1.0, 2.0, 3.0],)),
    "_reshape_helper": lambda: _call(_CH + "_utils._reshape_helper", (_t(3),), (_t(3, 1),)),
    "_min_size": lambda: _call(_CH + "_utils._min_size", (_t(3, 1, 1),)),
}


class _Value(nn.Module):
    """The worth of an action."""

    def forward(self, state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        """A sum of both."""
        return state.sum(-1, keepdim=True) + action.sum(-1, keepdim=True)


def _loss_of(kind: str, name: str, *given: Any) -> Built:
    """A loss that stands in a class."""
    return getattr(_get(_CH + "algorithms." + kind), name), [given]


def _gradient() -> Built:
    """A solution that is found in steps."""
    solve = _get(_CH + "algorithms.trpo.TRPO").conjugate_gradient
    matrix = torch.eye(4) * 2
    return held(matrix, lambda m, b: solve(lambda v: m @ v, b, 3), (_t(4),))


def _hessian() -> Built:
    """Products of second derivatives of a policy and a vector."""
    policy = _Policy()
    product = _get(_CH + "algorithms.trpo.TRPO").hessian_vector_product

    def use(x: torch.Tensor, v: torch.Tensor) -> Any:
        return product(policy(x).loc.pow(2).mean(), policy.parameters())(v)

    return use, [(_t(3, 4), _t(10))]


def _polyak() -> Built:
    """Weights that follow those of another."""
    average = _get(_CH + "models.utils.polyak_average")
    return held((nn.Linear(3, 2), nn.Linear(3, 2)), lambda both: average(*both, 0.1), ())


_DEEPOD: dict[str, Callable[[], Built]] = {
    "ConvNet": lambda: _made(_DN + "ConvNet", [(_t(3, 6, 4),)], 6),
    "MlpAE": lambda: _made(_DN + "MlpAE", [(_t(3, 6),)], 6, "8,4", 2),
    "TcnAE": lambda: _made(_DN + "TcnAE", [(_SERIES,)], 3, "8,4", 2),
    "MLPnet": lambda: _made(_DN + "MLPnet", [(_t(3, 6),)], 6, "8,4", 2),
    "MLPnet skip": lambda: _made(
        _DN + "MLPnet", [(_t(3, 6),)], 6, [8, 4], 2, skip_connection="concat", batch_norm=True, dropout=0.1
    ),
    "LinearBlock": lambda: _made(_DN + "LinearBlock", [(_t(3, 6),)], 6, 4, mid_channels=None, skip_connection="concat"),
    "GRUNet": lambda: _made(_DN + "GRUNet", [(_SERIES,)], 3, "8", 4),
    "LSTMNet": lambda: _made(_DN + "LSTMNet", [(_SERIES,)], 3, "8", 4),
    "TCNnet": lambda: _made(_DN + "TCNnet", [(_SERIES,)], 3, "8,4", 4),
    "ConvSeqEncoder": lambda: _made(_DN + "ConvSeqEncoder", [(_SERIES,)], 3, "8", 4, 2, 12),
    "DilatedConvEncoder": lambda: _made(
        _D + "networks.ts_network_dilated_conv.DilatedConvEncoder", [(_SERIES,)], 3, "8", 4
    ),
    "FixedPositionalEncoding": lambda: _made(
        _D + "base_transformer_network.FixedPositionalEncoding", [(_t(6, 2, 16),)], 16
    ),
    "TransformerBatchNormEncoderLayer": lambda: _made(
        _D + "base_transformer_network.TransformerBatchNormEncoderLayer",
        [(_t(6, 2, 16),)],
        16,
        2,
        32,
        activation="ReLU",
    ),
    "CrissCrossAttention": lambda: _made(
        _D + "base_transformer_network_dev.CrissCrossAttention", [(_t(2, 5, 16),)], 16
    ),
    "FullAttention": lambda: _attention("FullAttention", mask_flag=True),
    "ProbAttention": lambda: _attention("ProbAttention", mask_flag=True, factor=1),
    "ProbAttention plain": lambda: _attention("ProbAttention", mask_flag=False, factor=1),
    "DSAttention": lambda: _attention("DSAttention", mask_flag=True),
    "TwoStageAttentionLayer": lambda: _made(
        _D + "transformer.selfattention_family.TwoStageAttentionLayer", [(_t(2, 3, 4, 16),)], 4, 2, 16, 2
    ),
    "DataEmbedding": lambda: _made(
        _D + "transformer.embed.DataEmbedding", [(_SERIES, _i(4, 2, 12, 4))], 3, 16, "fixed", "h"
    ),
    "DataEmbedding time": lambda: _made(
        _D + "transformer.embed.DataEmbedding", [(_SERIES, _t(2, 12, 4))], 3, 16, "timeF", "h"
    ),
    "PatchEmbedding": lambda: _made(_D + "transformer.embed.PatchEmbedding", [(_t(2, 3, 12),)], 16, 4, 2, 2, 0.0),
    "DevLoss": lambda: _made(_DT + "devnet.DevLoss", [(torch.tensor([0.0, 1.0, 0.0]), _t(3))]),
    "DSADLoss": lambda: _made(_DT + "dsad.DSADLoss", [(_t(3, 4), torch.tensor([0, 1, -1]))], _t(4)),
    "DSVDDLoss": lambda: _made(_DT + "dsvdd.DSVDDLoss", [(_t(3, 4),), (_t(3, 4), "none")], _t(4)),
    "FeaWadNet": lambda: _made(_DT + "feawad.FeaWadNet", [(_t(3, 6),)], 6, "AE", "8,4", "8,4", 2),
    "FeaWADLoss": lambda: _made(_DT + "feawad.FeaWADLoss", [(torch.tensor([0.0, 1.0, 0.0]), _t(3), _t(3, 4))]),
    "GoadNet": lambda: _made(_DT + "goad.GoadNet", [(_t(3, 6, 4),)], 6, n_output=4),
    "GoadLoss": lambda: _made(
        _DT + "goad.GoadLoss", [(_t(3, 4, 5), _t(3, 4, 4), torch.arange(4).repeat(3, 1))], device="cpu"
    ),
    "ICLNet": lambda: _made(_DT + "icl.ICLNet", [(_t(3, 10),)], 10, 3, "8", 4),
    "TabNeutralADNet": lambda: _made(_DT + "neutral.TabNeutralADNet", [(_t(3, 6),)], 6, 3, device="cpu"),
    "TabNeutralADNet mul": lambda: _made(
        _DT + "neutral.TabNeutralADNet", [(_t(3, 6),)], 6, 3, trans_type="mul", device="cpu"
    ),
    "DCL": lambda: _made(_DT + "neutral.DCL", [(_t(3, 4, 5),)]),
    "DualInputNet": lambda: _made(_DT + "prenet.DualInputNet", [(_t(3, 6), _t(3, 6))], 6, "8", 4),
    "RCANet": lambda: _made(_DT + "rca.RCANet", [(_t(3, 6), _t(3, 6))], 6, "8", 4),
    "RDPLoss": lambda: held(
        _get(_DT + "rdp.RDPLoss")(nn.Linear(6, 4)), lambda m, *x: m(*x), (_t(3, 4), _t(3, 4), _t(3, 6), _t(3, 6))
    ),
    "REPENLoss": lambda: _made(_DT + "repen.REPENLoss", [(_t(3, 4), _t(3, 4), _t(3, 4))]),
    "RoSASLoss": lambda: _made(
        _DT + "rosas._RoSASLoss", [([_t(3, 4), _t(3, 4), _t(3, 4)], _t(3, 1), _t(3, 1), _t(3, 1))]
    ),
    "RoSASNet": lambda: _made(_DT + "rosas._RoSASNet", [(_t(3, 6),)], 6, "8", 4),
    "SLADLoss": lambda: _made(_DT + "slad.SLADLoss", [(torch.softmax(_t(3, 4), -1), torch.softmax(_t(3, 4), -1))]),
    "my_kl_loss": lambda: _call(_DS + "anomalytransformer.my_kl_loss", (_u(2, 2, 4, 4), _u(2, 2, 4, 4))),
    "AnomalyTransformerModel": lambda: _made(
        _DS + "anomalytransformer.AnomalyTransformerModel", [(_SERIES,)], 12, 3, 3, 16, 2, 1, 16, device="cpu"
    ),
    "COUTANet": lambda: _made(_DS + "couta.COUTANet", [(_t(2, 12, 3),)], 3, [8], 8, 8, 4),
    "DSVDDUncLoss": lambda: _made(_DS + "couta.DSVDDUncLoss", [(_t(3, 4), _t(3, 4))], _t(4)),
    "create_batch_neg": lambda: _call(_DS + "couta.create_batch_neg", (_SERIES,)),
}


_SYNTH: dict[str, Callable[[], Built]] = {
    "BNAF": lambda: _made(_S + "bnaf.BNAF", [(_t(3, 4),)], *_bnaf_layers()),
    "BNAF gated": lambda: _made(_S + "bnaf.BNAF", [(_t(3, 4),)], *_bnaf_layers(), res="gated"),
    "Permutation": lambda: _made(_S + "bnaf.Permutation", [(_t(3, 4),)], 4, "flip"),
    "MaskedWeight": lambda: _made(_S + "bnaf.MaskedWeight", [(_t(3, 4),)], 4, 8, 4),
    "Tanh": lambda: _made(_S + "bnaf.Tanh", [(_t(3, 4),)]),
    "Sparsemax": lambda: _made(_S + "layers.Sparsemax", [(_t(3, 4),)]),
    "Entmax": lambda: _made(_S + "layers.Entmax", [(_t(3, 4),)]),
    "GumbelSoftmax": lambda: _made(_S + "layers.GumbelSoftmax", [(_t(3, 4),)]),
    "GumbelSoftmax hard": lambda: _made(_S + "layers.GumbelSoftmax", [(_t(3, 4),)], hard=True),
    "MultiActivationHead": lambda: _made(
        _S + "layers.MultiActivationHead", [(_t(3, 5),)], [(nn.Tanh(), 2), (nn.Softmax(-1), 3)], device="cpu"
    ),
    "Max": lambda: _made(_S + "layers.Max", [(_t(3, 4),)], 1),
    "LinearLayer": lambda: _made(_S + "mlp.LinearLayer", [(_t(3, 4),)], 4, 5, 0.1, True, device="cpu"),
    "MLP": lambda: _made(_S + "mlp.MLP", [(_t(3, 4),)], 4, 2, device="cpu"),
    "MLP residual": lambda: _made(
        _S + "mlp.MLP", [(_t(3, 4),)], 4, 3, task_type="classification", residual=True, n_layers_hidden=2, device="cpu"
    ),
    "MLP heads": lambda: _made(
        _S + "mlp.MLP", [(_t(3, 4),)], 4, 5, nonlin_out=[("softmax", 3), ("tanh", 2)], device="cpu"
    ),
    "MLP loss": lambda: _method(_S + "mlp.MLP", "loss", [(_t(3, 2), _t(3, 2))], 4, 2, device="cpu"),
    "TabNet": lambda: _made(_S + "tabnet.TabNet", [(_t(6, 5),)], 5, 2, mask_type="sparsemax"),
    "TabNetEncoder": lambda: _made(_S + "tabnet.TabNetEncoder", [(_t(6, 5),)], 5, 2),
    "TabNetEncoder masks": lambda: _method(_S + "tabnet.TabNetEncoder", "forward_masks", [(_t(6, 5),)], 5, 2),
    "GBN": lambda: _made(_S + "tabnet.GBN", [(_t(9, 5),)], 5, 4),
    "TransformerModel": lambda: _made(_S + "transformer.TransformerModel", [(_t(2, 6, 4),)], 4, 8, device="cpu"),
    "GAN": lambda: _gan(),
    "VAE Encoder": lambda: _made(_S + "vae.Encoder", [(_t(3, 4),)], 4, 2, device="cpu"),
    "VAE Decoder": lambda: _made(_S + "vae.Decoder", [(_t(3, 2),)], 2, 4, device="cpu"),
    "VAE reparameterize": lambda: _vae("_reparameterize", _t(3, 2), _t(3, 2)),
    "VAE loss": lambda: _vae("_loss_function", _t(3, 5), _t(3, 5), _t(3, 2), _t(3, 2)),
    "VAE generate": lambda: _vae("generate", 3),
    "OneClassLoss": lambda: _call("synthcity.metrics.representations.OneClass.OneClassLoss", (_t(4, 3), _t(3))),
    "SoftBoundaryLoss": lambda: _call(
        "synthcity.metrics.representations.OneClass.SoftBoundaryLoss",
        (_t(4, 3), torch.tensor(1.0), _t(3), torch.tensor(0.1)),
    ),
    "get_radius": lambda: _call("synthcity.metrics.representations.OneClass.get_radius", (_u(6), 0.1)),
    "OneClassLayer": lambda: _made(
        "synthcity.metrics.representations.OneClass.OneClassLayer", [(_t(4, 5),)], 5, 3, _t(3)
    ),
    "Goggle LearnedGraph": lambda: _made(_S + "goggle.LearnedGraph", [(1,), (60,)], 4, None, None, 0.1, "cpu"),
    "Goggle Encoder": lambda: _made(_S + "goggle.Encoder", [(_t(3, 4),)], 4, 8, 2, "relu"),
    "Goggle het": lambda: _made(_S + "goggle.GraphInputProcessorHet", [(_t(3, 4), _u(4, 4))], 4, 2, 16, True, "cpu"),
    "GoggleLoss": lambda: _made(
        _S + "goggle.GoggleLoss", [(_t(3, 4), _t(3, 4), _t(3, 4), _t(3, 4), _u(4, 4))], device="cpu"
    ),
    "masked_edge_index": lambda: _call(
        _S + "RGCNConv.masked_edge_index", (_i(4, 2, 6), torch.tensor([True, False] * 3))
    ),
    "TimeSeriesLayer": lambda: _layer("LSTM"),
    "TimeSeriesLayer TCN": lambda: _layer("RNN"),
    "WindowLinearLayer": lambda: _made(
        _S + "ts_model.WindowLinearLayer", [(_t(3, 2), _t(3, 6, 4))], 2, 4, 6, 3, device="cpu"
    ),
    "ConditionalGenerator": lambda: _made(
        _S + "convnet.ConditionalGenerator", [(_t(3, 4),)], nn.Linear(4, 5), 1, 4, device="cpu"
    ),
}


def _bnaf_layers() -> list[Any]:
    """Layers of a flow."""
    weight = _get(_S + "bnaf.MaskedWeight")
    return [weight(4, 8, 4), _get(_S + "bnaf.Tanh")(), weight(8, 4, 4)]


def _gan() -> Built:
    """Drawn samples."""
    made = _get(_S + "gan.GAN")(5, 2, batch_size=4, generator_n_iter=1, **_CPU)
    return held(made, lambda m: m.forward(3), ())


def _vae(name: str, *given: Any) -> Built:
    """A method of an autoencoder."""
    return getattr(_get(_S + "vae.VAE")(5, 2, n_iter=1, **_CPU), name), [given]


def _layer(mode: str) -> Built:
    """A layer of time series."""
    made = _get(_S + "ts_model.TimeSeriesLayer")(2, 4, 6, 3, mode=mode, **_CPU)
    return made, [(_t(3, 2), _t(3, 6, 4))]


for _package, _models in {
    "joeynmt": _JOEY,
    "castle": _CASTLE,
    "cherry": _CHERRY,
    "deepod": _DEEPOD,
    "synthcity": _SYNTH,
}.items():
    MODELS |= {f"{_package}/{_name}": _build for _name, _build in _models.items()}
