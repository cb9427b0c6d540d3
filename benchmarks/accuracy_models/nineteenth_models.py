"""Models of torchaudio, allennlp, TTS (coqui-tts), espnet and espnet2.

They were chosen after all of the eighteenth group, and written before `check` was run on these packages. torchaudio is
run without its extension library.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import complex_normal, held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter, without

_t, _u, _i = random_inputs(47)
_ABSENT = {
    "allennlp": (
        "cached_path.cache_file",
        "cached_path.common",
        "cached_path.util",
        "cached_path.file_lock",
        "cached_path.meta",
        "cached_path.schemes",
        "cached_path.tqdm",
        "cached_path.version",
        "google.cloud.storage",
        "boto3",
        "spacy.cli.download",
        "spacy.language",
        "spacy.tokens",
        "nltk",
        "lmdb",
        "checklist",
        "h5py",
        "sqlitedict",
    ),
    "espnet2": ("ci_sdr", "fast_bss_eval"),
    "TTS": ("trainer.trainer_utils", "trainer.generic_utils", "trainer.torch", "trainer.io", "trainer.logging"),
}


def _prepare(package: str) -> None:
    """allennlp imports what huggingface_hub no longer has, and uses it to upload models."""
    if package == "allennlp":
        import huggingface_hub

        for name in ("HfFolder", "Repository"):
            if not hasattr(huggingface_hub, name):
                setattr(huggingface_hub, name, object)
        for name in ("modeling_utils", "image_utils", "models.auto"):
            importlib.import_module(f"transformers.{name}")  # with what is installed, before there are stand-ins
        without("torchvision.models", "torchvision.ops", "torchvision.transforms.functional")


_get = getter(_ABSENT, ("allennlp", "allennlp.training", "TTS"), _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_F = "torchaudio.functional."
_X = "torchaudio.transforms."
_M = "torchaudio.models."
_WAVE = _t(2, 1600)
_SHORT = _t(2, 24)  # what filters without the extension library loop over
_POWER = _u(2, 33, 20)
_COMPLEX = complex_normal(_t, 2, 33, 20)
_CHANNELS = complex_normal(_t, 2, 3, 33, 20)
_MASK = _u(2, 33, 20)
_WINDOW = torch.hann_window(64)
_AUDIO: dict[str, Callable[[], Built]] = {
    "spectrogram": lambda: _call(_F + "spectrogram", (_WAVE, 0, _WINDOW, 64, 32, 64, 2.0, False)),
    "griffinlim": lambda: _call(_F + "griffinlim", (_POWER, _WINDOW, 64, 32, 64, 1.0, 2, 0.9, None, True)),
    "amplitude_to_DB": lambda: _call(_F + "amplitude_to_DB", (_POWER, 10.0, 1e-10, 0.0, 80.0)),
    "mu_law_decoding": lambda: _call(_F + "mu_law_decoding", (_i(256, 2, 50), 256)),
    "mu_law_encoding": lambda: _call(_F + "mu_law_encoding", (_u(2, 50), 256)),
    "phase_vocoder": lambda: _call(_F + "phase_vocoder", (_COMPLEX, 1.3, torch.linspace(0, 3, 33)[..., None])),
    "mask_along_axis_iid": lambda: _call(_F + "mask_along_axis_iid", (_u(2, 1, 33, 20), 5, 0.0, 2)),
    "mask_along_axis": lambda: _call(_F + "mask_along_axis", (_POWER, 5, 0.0, 1)),
    "compute_deltas": lambda: _call(_F + "compute_deltas", (_POWER,)),
    "detect_pitch_frequency": lambda: _call(_F + "detect_pitch_frequency", (_WAVE, 8000)),
    "sliding_window_cmn": lambda: _call(_F + "sliding_window_cmn", (_POWER, 8, 4)),
    "sliding_window_cmn vars": lambda: _call(_F + "sliding_window_cmn", (_POWER, 8, 4, True, True)),
    "spectral_centroid": lambda: _call(_F + "spectral_centroid", (_WAVE, 8000, 0, _WINDOW, 64, 32, 64)),
    "resample": lambda: _call(_F + "resample", (_WAVE, 16000, 8000)),
    "edit_distance": lambda: _call(_F + "edit_distance", (_i(5, 6), _i(5, 8))),
    "pitch_shift": lambda: _call(_F + "pitch_shift", (_WAVE, 8000, 2)),
    "psd": lambda: _call(_F + "psd", (_CHANNELS, _MASK)),
    "mvdr_weights_souden": lambda: _call(
        _F + "mvdr_weights_souden", (complex_normal(_t, 2, 33, 3, 3), complex_normal(_t, 2, 33, 3, 3), 0)
    ),
    "mvdr_weights_souden tensor": lambda: _call(
        _F + "mvdr_weights_souden",
        (complex_normal(_t, 2, 33, 3, 3), complex_normal(_t, 2, 33, 3, 3), torch.eye(3)[0].expand(2, 3)),
    ),
    "rtf_evd": lambda: _call(_F + "rtf_evd", (complex_normal(_t, 2, 33, 3, 3),)),
    "rtf_power": lambda: _call(_F + "rtf_power", (complex_normal(_t, 2, 33, 3, 3), complex_normal(_t, 2, 33, 3, 3), 0)),
    "apply_beamforming": lambda: _call(_F + "apply_beamforming", (complex_normal(_t, 2, 33, 3), _CHANNELS)),
    "fftconvolve": lambda: _call(_F + "fftconvolve", (_t(2, 50), _t(2, 7), "same")),
    "convolve": lambda: _call(_F + "convolve", (_t(2, 50), _t(2, 7))),
    "add_noise": lambda: _call(_F + "add_noise", (_t(2, 50), _t(2, 50), _t(2), torch.tensor([50, 30]))),
    "speed": lambda: _call(_F + "speed", (_WAVE, 8000, 1.1, torch.tensor([1600, 900]))),
    "preemphasis": lambda: _call(_F + "preemphasis", (_WAVE,)),
    "frechet_distance": lambda: _call(_F + "frechet_distance", (_t(3), torch.eye(3), _t(3), torch.eye(3) * 2)),
    "lowpass_biquad": lambda: _call(_F + "lowpass_biquad", (_SHORT, 8000, 1000.0)),
    "band_biquad": lambda: _call(_F + "band_biquad", (_SHORT, 8000, 1000.0)),
    "contrast": lambda: _call(_F + "contrast", (_WAVE,)),
    "dcshift": lambda: _call(_F + "dcshift", (_WAVE, 0.2, 0.05)),
    "dither": lambda: _call(_F + "dither", (_WAVE,)),
    "dither RPDF": lambda: _call(_F + "dither", (_WAVE, "RPDF")),
    "dither GPDF": lambda: _call(_F + "dither", (_WAVE, "GPDF", True)),
    "filtfilt": lambda: _call(_F + "filtfilt", (_SHORT, torch.tensor([1.0, 0.2]), torch.tensor([0.4, 0.1]))),
    "flanger": lambda: _call(_F + "flanger", (_t(1, 2, 24), 8000)),
    "gain": lambda: _call(_F + "gain", (_WAVE, 2.0)),
    "lfilter": lambda: _call(_F + "lfilter", (_SHORT, torch.tensor([1.0, 0.2]), torch.tensor([0.4, 0.1]))),
    "overdrive": lambda: _call(_F + "overdrive", (_t(1, 24),)),
    "phaser": lambda: _call(_F + "phaser", (_t(1, 24), 8000)),
    "vad": lambda: _call(_F + "vad", (_t(1, 4000), 8000)),
    "kaldi fbank": lambda: _call("torchaudio.compliance.kaldi.fbank", (_t(1, 3200),)),
    "kaldi mfcc": lambda: _call("torchaudio.compliance.kaldi.mfcc", (_t(1, 3200),)),
    "kaldi spectrogram": lambda: _call("torchaudio.compliance.kaldi.spectrogram", (_t(1, 3200),)),
    "PSD": lambda: _made(_X + "PSD", [(_CHANNELS, _MASK)]),
    "MVDR": lambda: _made(_X + "MVDR", [(_CHANNELS, _MASK)]),
    "MVDR online": lambda: _made(_X + "MVDR", [(_CHANNELS, _MASK)], online=True, solution="stv_power"),
    "RTFMVDR": lambda: _made(
        _X + "RTFMVDR", [(_CHANNELS, complex_normal(_t, 2, 33, 3), complex_normal(_t, 2, 33, 3, 3), 0)]
    ),
    "GriffinLim": lambda: _made(_X + "GriffinLim", [(_POWER,)], n_fft=64, n_iter=2),
    "InverseMelScale": lambda: _made(_X + "InverseMelScale", [(_u(2, 10, 20),)], n_stft=33, n_mels=10),
    "MelSpectrogram": lambda: _made(_X + "MelSpectrogram", [(_WAVE,)], 8000, 64, n_mels=10),
    "MFCC": lambda: _made(_X + "MFCC", [(_WAVE,)], 8000, 8, log_mels=True, melkwargs={"n_fft": 64, "n_mels": 10}),
    "LFCC": lambda: _made(_X + "LFCC", [(_WAVE,)], 8000, 10, n_lfcc=8, speckwargs={"n_fft": 64}),
    "Resample": lambda: _made(_X + "Resample", [(_WAVE,)], 8000, 6000),
    "TimeStretch": lambda: _made(_X + "TimeStretch", [(_COMPLEX, 1.2)], n_freq=33),
    "Fade": lambda: _made(_X + "Fade", [(_WAVE,)], 100, 100, "logarithmic"),
    "SpecAugment": lambda: _made(_X + "SpecAugment", [(_POWER[:, None],)], 2, 4, 2, 4),
    "FrequencyMasking": lambda: _made(_X + "FrequencyMasking", [(_POWER,)], 5),
    "TimeMasking": lambda: _made(_X + "TimeMasking", [(_POWER,)], 5, p=0.5),
    "Vol": lambda: _made(_X + "Vol", [(_WAVE,)], 2.0, "db"),
    "Vad": lambda: _made(_X + "Vad", [(_t(1, 4000),)], 8000),
    "PitchShift": lambda: _made(_X + "PitchShift", [(_WAVE,)], 8000, 2, n_fft=64),
    "AddNoise": lambda: _made(_X + "AddNoise", [(_t(2, 50), _t(2, 50), _t(2))]),
    "SpeedPerturbation": lambda: _made(_X + "SpeedPerturbation", [(_WAVE,)], 8000, [0.9, 1.1]),
    "Deemphasis": lambda: _made(_X + "Deemphasis", [(_SHORT,)]),
    "ConvTasNet": lambda: _made(_M + "ConvTasNet", [(_t(1, 1, 400),)], 2, 16, 8, 3, 8, 16, 2, 1),
    "DeepSpeech": lambda: _made(_M + "DeepSpeech", [(_t(2, 1, 20, 10),)], 10, 16, 5),
    "Wav2Letter": lambda: _made(_M + "Wav2Letter", [(_t(1, 8, 400),)], 5, "mfcc", 8),
    "Conformer": lambda: _made(
        _M + "Conformer", [(_t(2, 20, 8), torch.tensor([20, 14]))], 8, 2, 16, 1, depthwise_conv_kernel_size=3
    ),
    "Emformer": lambda: _made(
        _M + "Emformer", [(_t(2, 12, 8), torch.tensor([8, 6]))], 8, 2, 16, 1, 4, right_context_length=4
    ),
    "Emformer infer": lambda: held(
        _get(_M + "Emformer")(8, 2, 16, 1, 4, left_context_length=2, right_context_length=2).eval(),
        lambda m, x, n: m.infer(x, n),
        (_t(2, 6, 8), torch.tensor([6, 6])),
    ),
    "HDemucs": lambda: _made(_M + "HDemucs", [(_t(1, 2, 16384),)], ["a", "b"], channels=4, nfft=4096),
    "Tacotron2": lambda: _tacotron(),
    "Tacotron2 infer": lambda: held(
        _tacotron()[0].eval(), lambda m, x, n: m.infer(x, n), (_i(10, 2, 6), torch.tensor([6, 4]))
    ),
    "WaveRNN": lambda: _made(
        _M + "WaveRNN",
        [(_t(2, 1, 16), _t(2, 1, 8, 8))],
        upsample_scales=[2, 2],
        n_classes=16,
        hop_length=4,
        n_res_block=1,
        n_rnn=8,
        n_fc=8,
        n_freq=8,
        n_hidden=8,
        n_output=8,
    ),
    "Wav2Vec2": lambda: (_wav2vec(), [(_t(2, 2000), torch.tensor([2000, 1400]))]),
    "RNNT": lambda: (_rnnt(), [(_t(1, 8, 8), torch.tensor([8]), _i(5, 1, 4), torch.tensor([4], dtype=torch.int32))]),
    "RNNTBeamSearch": lambda: held(
        _get(_M + "RNNTBeamSearch")(_rnnt().eval(), 4), lambda m, x, n: m(x, n, 2), (_t(1, 8, 8), torch.tensor([8]))
    ),
    "SquimObjective": lambda: (
        _get("torchaudio.models.squim_objective_model")(8, 8, 8, 2, 8, 1, "LSTM", 10),
        [(_t(1, 400),)],
    ),
}


def _tacotron() -> Built:
    sizes = dict.fromkeys(
        (
            "symbol_embedding_dim",
            "encoder_embedding_dim",
            "decoder_rnn_dim",
            "attention_rnn_dim",
            "attention_hidden_dim",
            "prenet_dim",
            "postnet_embedding_dim",
        ),
        8,
    )
    model = _get(_M + "Tacotron2")(
        mask_padding=True, n_mels=4, n_symbol=10, attention_location_n_filter=4, decoder_max_step=5, **sizes
    )
    lengths = torch.tensor([6, 4])
    return model, [(_i(10, 2, 6), lengths, _t(2, 4, 8), torch.tensor([8, 5]))]


_WAV2VEC = (*("group_norm", [(8, 10, 5), (8, 3, 2)], False, 8, 0.1, 4, 2, 1, 2, 0.1, 16, 0.1, 0.1, False, 0.1),)


def _wav2vec() -> nn.Module:
    model: nn.Module = _get("torchaudio.models.wav2vec2_model")(*_WAV2VEC, 5)
    return model


def _rnnt() -> nn.Module:
    model: nn.Module = _get("torchaudio.models.emformer_rnnt_model")(
        input_dim=8,
        encoding_dim=8,
        num_symbols=5,
        segment_length=4,
        right_context_length=0,
        time_reduction_input_dim=8,
        time_reduction_stride=1,
        transformer_num_heads=2,
        transformer_ffn_dim=16,
        transformer_num_layers=1,
        transformer_dropout=0.1,
        transformer_activation="gelu",
        transformer_left_context_length=2,
        transformer_max_memory_size=0,
        transformer_weight_init_scale_strategy="depthwise",
        transformer_tanh_on_mem=True,
        symbol_embedding_dim=8,
        num_lstm_layers=1,
        lstm_layer_norm=True,
        lstm_layer_norm_epsilon=1e-3,
        lstm_dropout=0.1,
    )
    return model


_A = "allennlp.nn.util."
_E = "allennlp.modules."
_R = "allennlp.training.metrics."
_LONG = torch.tensor([5, 3, 4])
_SEQ = _t(3, 5, 8)
_SEQ_MASK = torch.arange(5)[None] < _LONG[:, None]
_SPANS = torch.tensor([[[0, 1], [2, 4]], [[1, 2], [0, 0]], [[0, 3], [1, 1]]])


def _encoder(name: str, *given: object, **options: object) -> Callable[[], Built]:
    return lambda: _made(_E + name, [(_SEQ, _SEQ_MASK)], *given, **options)


def _measure(name: str, inputs: tuple[torch.Tensor, ...], *given: object, **options: object) -> Callable[[], Built]:
    """A metric that is made once, is given values, and is asked for its result."""

    def build() -> Built:
        made = _get(_R + name)(*given, **options)

        def use(metric: object, *x: torch.Tensor) -> object:
            metric(*x)  # type: ignore[operator]
            return metric.get_metric(reset=True)  # type: ignore[attr-defined]

        return held(made, use, inputs)

    return build


_SCORES = (_t(6, 4), _i(4, 6))
_ALLEN: dict[str, Callable[[], Built]] = {
    "get_mask_from_sequence_lengths": lambda: _call(_A + "get_mask_from_sequence_lengths", (_LONG, 5)),
    "sort_batch_by_length": lambda: _call(_A + "sort_batch_by_length", (_SEQ, _LONG)),
    "get_final_encoder_states": lambda: _call(_A + "get_final_encoder_states", (_SEQ, _SEQ_MASK, True)),
    "masked_softmax": lambda: _call(_A + "masked_softmax", (_t(3, 5), _SEQ_MASK)),
    "masked_softmax efficient": lambda: _call(_A + "masked_softmax", (_t(3, 5), _SEQ_MASK, -1, True)),
    "masked_max": lambda: _call(_A + "masked_max", (_t(3, 5), _SEQ_MASK, 1)),
    "masked_mean": lambda: _call(_A + "masked_mean", (_t(3, 5), _SEQ_MASK, 1)),
    "masked_flip": lambda: _call(_A + "masked_flip", (_SEQ, [5, 3, 4])),
    "viterbi_decode": lambda: _call(_A + "viterbi_decode", (_t(5, 4), _t(4, 4))),
    "viterbi_decode top": lambda: _call(_A + "viterbi_decode", (_t(5, 4), _t(4, 4)), top_k=2),
    "viterbi_decode observed": lambda: _call(
        _A + "viterbi_decode", (_t(5, 4), _t(4, 4), [1, -1, 2, -1, -1]), allowed_start_transitions=_t(4)
    ),
    "sequence_cross_entropy": lambda: _call(
        _A + "sequence_cross_entropy_with_logits", (_t(3, 5, 4), _i(4, 3, 5), _SEQ_MASK)
    ),
    "sequence_cross_entropy focal": lambda: _call(
        _A + "sequence_cross_entropy_with_logits",
        (_t(3, 5, 4), _i(4, 3, 5), _SEQ_MASK),
        average="token",
        gamma=2.0,
        alpha=[0.2, 0.3, 0.4, 0.1],
    ),
    "sequence_cross_entropy smooth": lambda: _call(
        _A + "sequence_cross_entropy_with_logits",
        (_t(3, 5, 4), _i(4, 3, 5), _SEQ_MASK),
        average=None,
        label_smoothing=0.1,
    ),
    "tensors_equal": lambda: _call(_A + "tensors_equal", (_t(4), _t(4))),
    "combine_tensors": lambda: _call(_A + "combine_tensors", ("1,2,1*2,1-2", [_SEQ, _SEQ])),
    "batched_index_select": lambda: _call(_A + "batched_index_select", (_SEQ, _i(5, 3, 2))),
    "batched_span_select": lambda: _call(_A + "batched_span_select", (_SEQ, _SPANS)),
    "masked_index_fill": lambda: _call(_A + "masked_index_fill", (torch.zeros(3, 5), _i(5, 3, 2), _i(2, 3, 2).bool())),
    "bucket_values": lambda: _call(_A + "bucket_values", (_i(20, 3, 5),)),
    "add_sentence_boundary_token_ids": lambda: _call(
        _A + "add_sentence_boundary_token_ids", (_i(9, 3, 5) + 1, _SEQ_MASK, 10, 11)
    ),
    "remove_sentence_boundaries": lambda: _call(_A + "remove_sentence_boundaries", (_SEQ, _SEQ_MASK)),
    "add_positional_features": lambda: _call(_A + "add_positional_features", (_SEQ,)),
    "masked_topk": lambda: _call(_A + "masked_topk", (_t(3, 5), _SEQ_MASK, 2)),
    "masked_topk tensor": lambda: _call(_A + "masked_topk", (_t(3, 5), _SEQ_MASK, torch.tensor([2, 1, 3]))),
    "get_text_field_mask": lambda: _call(_A + "get_text_field_mask", ({"a": {"tokens": _i(3, 3, 5)}},)),
    "AugmentedLstmCell": lambda: _made(
        _E + "augmented_lstm.AugmentedLSTMCell", [(_t(3, 8), (_t(3, 6), _t(3, 6)))], 8, 6
    ),
    "multi_perspective_match": lambda: _call(_E + "bimpm_matching.multi_perspective_match", (_SEQ, _SEQ, _t(3, 8))),
    "BiMpmMatching": lambda: _made(
        _E + "bimpm_matching.BiMpmMatching", [(_SEQ, _SEQ_MASK, _SEQ, _SEQ_MASK)], 8, 3, is_forward=True
    ),
    "FeedForward": lambda: _made(_E + "feedforward.FeedForward", [(_SEQ,)], 8, 2, [6, 4], [nn.ReLU(), nn.Tanh()], 0.1),
    "Highway": lambda: _made(_E + "highway.Highway", [(_t(3, 8),)], 8, 2),
    "InputVariationalDropout": lambda: _made(_E + "input_variational_dropout.InputVariationalDropout", [(_SEQ,)], 0.3),
    "MaskedLayerNorm": lambda: _encoder("masked_layer_norm.MaskedLayerNorm", 8)(),
    "Maxout": lambda: _made(_E + "maxout.Maxout", [(_t(3, 8),)], 8, 2, [4, 4], [2, 3]),
    "ResidualWithLayerDropout": lambda: _made(
        _E + "residual_with_layer_dropout.ResidualWithLayerDropout", [(_SEQ, _SEQ, 1, 3)]
    ),
    "SampledSoftmaxLoss": lambda: _made(
        _E + "sampled_softmax_loss.SampledSoftmaxLoss", [(_t(6, 8), _i(20, 6))], 20, 8, 5, use_character_inputs=False
    ),
    "SoftmaxLoss": lambda: _made(_E + "softmax_loss.SoftmaxLoss", [(_t(6, 8), _i(20, 6))], 20, 8),
    "ScalarMix": lambda: _made(_E + "scalar_mix.ScalarMix", [([_SEQ, _SEQ], _SEQ_MASK)], 2, True),
    "TimeDistributed": lambda: _made(_E + "time_distributed.TimeDistributed", [(_SEQ,)], nn.Linear(8, 3)),
    "ElmoLstm": _encoder("elmo_lstm.ElmoLstm", 8, 6, 8, 1, memory_cell_clip_value=2.0, state_projection_clip_value=2.0),
    "BagOfEmbeddings": _encoder("seq2vec_encoders.BagOfEmbeddingsEncoder", 8, True),
    "ClsPooler": _encoder("seq2vec_encoders.ClsPooler", 8, True),
    "CnnEncoder": _encoder("seq2vec_encoders.CnnEncoder", 8, 4, (2, 3)),
    "LstmSeq2Vec": _encoder("seq2vec_encoders.LstmSeq2VecEncoder", 8, 6, bidirectional=True),
    "GruSeq2Vec": _encoder("seq2vec_encoders.GruSeq2VecEncoder", 8, 6),
    "LstmSeq2Seq": _encoder("seq2seq_encoders.LstmSeq2SeqEncoder", 8, 6),
    "LstmSeq2Seq stateful": _encoder("seq2seq_encoders.LstmSeq2SeqEncoder", 8, 6, stateful=True),
    "StackedAlternatingLstm": _encoder("seq2seq_encoders.StackedAlternatingLstmSeq2SeqEncoder", 8, 6, 2),
    "StackedBidirectionalLstm": _encoder("seq2seq_encoders.StackedBidirectionalLstmSeq2SeqEncoder", 8, 6, 1),
    "PytorchTransformer": _encoder(
        "seq2seq_encoders.PytorchTransformer", 8, 1, 16, 2, positional_encoding="sinusoidal"
    ),
    "EndpointSpan": lambda: _made(
        _E + "span_extractors.EndpointSpanExtractor", [(_SEQ, _SPANS)], 8, "x,y", 10, 4, True
    ),
    "EndpointSpan exclusive": lambda: _made(
        _E + "span_extractors.EndpointSpanExtractor",
        [(_SEQ, _SPANS, _SEQ_MASK)],
        8,
        use_exclusive_start_indices=True,
    ),
    "BidirectionalEndpointSpan": lambda: _made(
        _E + "span_extractors.BidirectionalEndpointSpanExtractor", [(_SEQ, _SPANS, _SEQ_MASK)], 8
    ),
    "MaxPoolingSpan": lambda: _made(
        _E + "span_extractors.MaxPoolingSpanExtractor", [(_SEQ, _SPANS, _SEQ_MASK, _i(2, 3, 2).bool())], 8
    ),
    "SelfAttentiveSpan": lambda: _made(_E + "span_extractors.SelfAttentiveSpanExtractor", [(_SEQ, _SPANS)], 8),
    "DotProductAttention": lambda: _made(_E + "attention.DotProductAttention", [(_t(3, 8), _SEQ, _SEQ_MASK)]),
    "BilinearMatrixAttention": lambda: _made(_E + "matrix_attention.BilinearMatrixAttention", [(_SEQ, _SEQ)], 8, 8),
    "ConditionalRandomField": lambda: _made(
        _E + "conditional_random_field.ConditionalRandomField", [(_t(3, 5, 4), _i(4, 3, 5), _SEQ_MASK)], 4
    ),
    "ConditionalRandomField tags": lambda: held(
        _get(_E + "conditional_random_field.ConditionalRandomField")(4),
        lambda m, x, mask: m.viterbi_tags(x, mask),
        (_t(3, 5, 4), _SEQ_MASK),
    ),
    "BeamSearch": lambda: _beam(),
    "BeamSearch sampled": lambda: _beam(sampler="TopKSampler"),
    "Auc": _measure("Auc", (_u(6), _i(2, 6))),
    "BooleanAccuracy": _measure("BooleanAccuracy", (_i(2, 6, 3), _i(2, 6, 3))),
    "CategoricalAccuracy": _measure("CategoricalAccuracy", _SCORES),
    "CategoricalAccuracy ties": _measure("CategoricalAccuracy", (*_SCORES, _i(2, 6).bool()), tie_break=True),
    "Covariance": _measure("Covariance", (_t(6), _t(6))),
    "Entropy": _measure("Entropy", (_t(6, 4),)),
    "F1Measure": _measure("F1Measure", _SCORES, 1),
    "FBetaMeasure": _measure("FBetaMeasure", _SCORES, average="macro"),
    "FBetaMeasure weighted": _measure("FBetaMeasure", _SCORES, average="weighted", labels=[0, 2]),
    "FBetaMultiLabelMeasure": _measure("FBetaMultiLabelMeasure", (_u(6, 4), _i(2, 6, 4)), average="micro"),
    "MeanAbsoluteError": _measure("MeanAbsoluteError", (_t(6), _t(6))),
    "PearsonCorrelation": _measure("PearsonCorrelation", (_t(6), _t(6))),
    "SpearmanCorrelation": _measure("SpearmanCorrelation", (_t(6), _t(6))),
    "SequenceAccuracy": _measure("SequenceAccuracy", (_i(4, 3, 2, 5), _i(4, 3, 5))),
    "UnigramRecall": _measure("UnigramRecall", (_i(4, 3, 2, 5), _i(4, 3, 5))),
    "BLEU": _measure("BLEU", (_i(4, 3, 6), _i(4, 3, 6))),
    "ROUGE": _measure("ROUGE", (_i(4, 3, 6), _i(4, 3, 6))),
    "AttachmentScores": _measure("AttachmentScores", (_i(5, 3, 5), _i(4, 3, 5), _i(5, 3, 5), _i(4, 3, 5))),
}


def _beam(sampler: str | None = None) -> Built:
    sampling = None if sampler is None else _get("allennlp.nn.beam_search." + sampler)(3)
    search = _get("allennlp.nn.beam_search.BeamSearch")(3, max_steps=4, beam_size=2, sampler=sampling)
    table = torch.log_softmax(_t(4, 4), -1)

    def step(
        last: torch.Tensor, state: dict[str, torch.Tensor], _: int
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        return table[last], state

    return held(search, lambda s, x: s.search(x, {}, step), (torch.tensor([0, 1]),))


_T = "TTS.tts.layers."
_V = "TTS.vocoder."
_H = "TTS.tts.utils.helpers."
_LENGTHS = torch.tensor([6, 4])
_TEXT_MASK = (torch.arange(6)[None] < _LENGTHS[:, None])[:, None].float()
_MEL_LENGTHS = torch.tensor([9, 7])
_MEL_MASK = (torch.arange(9)[None] < _MEL_LENGTHS[:, None])[:, None].float()
_HIDDEN = _t(2, 8, 6)
_TTS: dict[str, Callable[[], Built]] = {
    "L1LossMasked": lambda: _made(_T + "losses.L1LossMasked", [(_t(2, 6, 4), _t(2, 6, 4), _LENGTHS)], True),
    "MSELossMasked": lambda: _made(_T + "losses.MSELossMasked", [(_t(2, 6, 4), _t(2, 6, 4), _LENGTHS)], False),
    "SSIMLoss": lambda: _made(_T + "losses.SSIMLoss", [(_t(2, 16, 12), _t(2, 16, 12), torch.tensor([16, 12]))]),
    "BCELossMasked": lambda: _made(_T + "losses.BCELossMasked", [(_t(2, 6), _u(2, 6), _LENGTHS)], 2.0),
    "DifferentialSpectralLoss": lambda: _made(
        _T + "losses.DifferentialSpectralLoss", [(_t(2, 6, 4), _t(2, 6, 4))], nn.L1Loss()
    ),
    "GuidedAttentionLoss": lambda: _made(_T + "losses.GuidedAttentionLoss", [(_u(2, 9, 6), _LENGTHS, _MEL_LENGTHS)]),
    "ForwardSumLoss": lambda: _made(_T + "losses.ForwardSumLoss", [(_t(2, 1, 9, 6), _LENGTHS, _MEL_LENGTHS)]),
    "GlowTTSLoss": lambda: _made(
        _T + "losses.GlowTTSLoss",
        [(_t(2, 4, 9), _t(2, 4, 9), _t(2, 4, 9), _t(2), _MEL_LENGTHS, _t(2, 1, 6), _t(2, 1, 6), _LENGTHS)],
    ),
    "MDNLoss": lambda: _made(_T + "losses.MDNLoss", [(_t(2, 6, 9), _LENGTHS, _MEL_LENGTHS)]),
    "sequence_mask": lambda: _call(_H + "sequence_mask", (_LENGTHS,)),
    "segment": lambda: _call(_H + "segment", (_t(2, 4, 9), torch.tensor([1, 3]), 4)),
    "rand_segments": lambda: _call(_H + "rand_segments", (_t(2, 4, 9), _MEL_LENGTHS, 4)),
    "rand_segments lenient": lambda: _call(_H + "rand_segments", (_t(2, 4, 9), torch.tensor([9, 3]), 4, True, True)),
    "average_over_durations": lambda: _call(
        _H + "average_over_durations", (_t(2, 1, 9), torch.tensor([[2, 1, 3, 3], [1, 2, 2, 2]]))
    ),
    "generate_path": lambda: _call(
        _H + "generate_path",
        (torch.tensor([[2, 1, 3, 1, 1, 1], [1, 2, 2, 2, 0, 0]]), _TEXT_MASK.transpose(1, 2) * _MEL_MASK),
    ),
    "glow Decoder": lambda: _made(
        _T + "glow_tts.decoder.Decoder", [(_t(2, 4, 8), _t(2, 1, 8) * 0 + 1)], 4, 8, 3, 1, 1, 1
    ),
    "glow Decoder reverse": lambda: held(
        _get(_T + "glow_tts.decoder.Decoder")(4, 8, 3, 1, 1, 1),
        lambda m, x, mask: m(x, mask, reverse=True),
        (_t(2, 4, 8), torch.ones(2, 1, 8)),
    ),
    "glow DurationPredictor": lambda: _made(
        _T + "glow_tts.duration_predictor.DurationPredictor", [(_HIDDEN, _TEXT_MASK)], 8, 8, 3, 0.1
    ),
    "RelativePositionTransformer": lambda: _made(
        _T + "glow_tts.transformer.RelativePositionTransformer",
        [(_HIDDEN, _TEXT_MASK)],
        8,
        8,
        8,
        16,
        2,
        1,
        3,
        rel_attn_window_size=4,
    ),
    "vits TextEncoder": lambda: _made(
        _T + "vits.networks.TextEncoder", [(_i(9, 2, 6), _LENGTHS)], 9, 8, 8, 16, 2, 1, 3, 0.1
    ),
    "vits PosteriorEncoder": lambda: _made(
        _T + "vits.networks.PosteriorEncoder", [(_t(2, 4, 9), _MEL_LENGTHS)], 4, 8, 8, 3, 1, 1
    ),
    "vits ResidualCouplingBlocks": lambda: _made(
        _T + "vits.networks.ResidualCouplingBlocks", [(_HIDDEN, _TEXT_MASK)], 8, 8, 3, 1, 1, 2
    ),
    "StochasticDurationPredictor": lambda: _made(
        _T + "vits.stochastic_duration_predictor.StochasticDurationPredictor",
        [(_HIDDEN, _TEXT_MASK, _u(2, 1, 6) + 1)],
        8,
        8,
        3,
        0.1,
        2,
    ),
    "StochasticDurationPredictor reverse": lambda: held(
        _get(_T + "vits.stochastic_duration_predictor.StochasticDurationPredictor")(8, 8, 3, 0.1, 2).eval(),
        lambda m, x, mask: m(x, mask, reverse=True),
        (_HIDDEN, _TEXT_MASK),
    ),
    "rational_quadratic_spline": lambda: _call(
        _T + "vits.transforms.piecewise_rational_quadratic_transform",
        (_u(5), _t(5, 4), _t(5, 4), _t(5, 5)),
    ),
    "VitsDiscriminator": lambda: _made(_T + "vits.discriminator.VitsDiscriminator", [(_t(1, 1, 512),)], (2, 3)),
    "GravesAttention": lambda: _attention("GravesAttention", 8, 4),
    "OriginalAttention": lambda: _attention(
        "OriginalAttention", 8, 8, 8, True, 4, 3, False, "softmax", False, False, False
    ),
    "OriginalAttention forward": lambda: _attention(
        "OriginalAttention", 8, 8, 8, True, 4, 3, True, "sigmoid", True, True, True
    ),
    "MonotonicDynamicConvolutionAttention": lambda: _attention(
        "MonotonicDynamicConvolutionAttention", 8, 8, 8, 4, 3, 4, 3
    ),
    "CBHG": lambda: _made(_T + "tacotron.tacotron.CBHG", [(_t(2, 8, 6),)], 8, 2, 8, [8, 8], 8, 8, 1),
    "tacotron2 Encoder": lambda: _made(_T + "tacotron.tacotron2.Encoder", [(_HIDDEN, _LENGTHS)], 8),
    "tacotron Prenet": lambda: _made(_T + "tacotron.common_layers.Prenet", [(_t(2, 8),)], 8, "bn", out_features=[8, 4]),
    "GST": lambda: _made(_T + "tacotron.gst_layers.GST", [(_t(2, 20, 80),)], 80, 2, 4, 8),
    "CapacitronVAE": lambda: _made(
        _T + "tacotron.capacitron_layers.CapacitronVAE",
        [((_t(2, 20, 80), torch.tensor([20, 14])),)],
        80,
        8,
        8,
        8,
    ),
    "AlignmentNetwork": lambda: _made(
        _T + "generic.aligner.AlignmentNetwork", [(_t(2, 4, 9), _t(2, 8, 6), _TEXT_MASK.bool())], 4, 8, 4
    ),
    "PositionalEncoding": lambda: _made(_T + "generic.pos_encoding.PositionalEncoding", [(_HIDDEN, _TEXT_MASK)], 8),
    "ActNorm": lambda: _made(_T + "generic.normalization.ActNorm", [(_HIDDEN, _TEXT_MASK)], 8, True),
    "TimeDepthSeparableConvBlock": lambda: _made(
        _T + "generic.time_depth_sep_conv.TimeDepthSeparableConvBlock", [(_HIDDEN, _TEXT_MASK)], 8, 8, 8, 2, 3
    ),
    "FFTransformerBlock": lambda: _made(
        _T + "generic.transformer.FFTransformerBlock", [(_HIDDEN, _TEXT_MASK)], 8, 2, 16, 1, 0.1
    ),
    "HifiganGenerator": lambda: _made(
        _V + "models.hifigan_generator.HifiganGenerator",
        [(_t(1, 8, 6),)],
        8,
        1,
        "1",
        [[1, 3, 5]],
        [3],
        [4, 4],
        8,
        [2, 2],
    ),
    "LSTMSpeakerEncoder": lambda: _lstm_encoder(),
}


def _attention(name: str, *given: object) -> Built:
    layer = _get(_T + "tacotron.attentions." + name)(*given)

    def use(attention: nn.Module, query: torch.Tensor, inputs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        attention.init_states(inputs)
        processed = attention.preprocess_inputs(inputs)
        attention(query, inputs, processed, mask)
        return attention(query, inputs, processed, mask)

    return held(layer.eval(), use, (_t(2, 8), _t(2, 6, 8), _TEXT_MASK[:, 0].bool()))


def _lstm_encoder() -> Built:
    model = _get("TTS.encoder.models.lstm.LSTMSpeakerEncoder")(10, 6, 8, 1)
    return held(model, lambda m, x: m.compute_embedding(x, 10, 2), (_t(1, 20, 10),))


_N = "espnet.nets.pytorch_backend."
_PAD = torch.tensor([6, 4])
_ESPNET: dict[str, Callable[[], Built]] = {
    "make_pad_mask": lambda: _call(_N + "nets_utils.make_pad_mask", (_PAD,)),
    "make_pad_mask list": lambda: _call(_N + "nets_utils.make_pad_mask", ([6, 4], _t(2, 6, 8), 1)),
    "make_non_pad_mask": lambda: _call(_N + "nets_utils.make_non_pad_mask", (_PAD, _t(2, 6, 8), 1)),
    "th_accuracy": lambda: _call(_N + "nets_utils.th_accuracy", (_t(12, 5), _i(5, 2, 6), -1)),
    "pad_list": lambda: _call(_N + "nets_utils.pad_list", ([_t(6, 3), _t(4, 3)], 0.0)),
    "mask_by_length": lambda: _call(_N + "nets_utils.mask_by_length", (_t(2, 6, 8), _PAD)),
    "get_activation": lambda: held(_get(_N + "nets_utils.get_activation")("swish"), lambda m, x: m(x), (_t(4),)),
    "MultiHeadedAttention": lambda: _made(
        _N + "transformer.attention.MultiHeadedAttention",
        [(_t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 8), torch.ones(2, 1, 6).bool())],
        2,
        8,
        0.1,
    ),
    "RelPositionMultiHeadedAttention": lambda: _made(
        _N + "transformer.attention.RelPositionMultiHeadedAttention",
        [(_t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 8), _t(1, 11, 8), torch.ones(2, 1, 6).bool())],
        2,
        8,
        0.1,
    ),
    "LabelSmoothingLoss": lambda: _made(
        _N + "transformer.label_smoothing_loss.LabelSmoothingLoss", [(_t(2, 6, 5), _i(5, 2, 6))], 5, -1, 0.1
    ),
    "DurationPredictor": lambda: _made(
        _N + "fastspeech.duration_predictor.DurationPredictor", [(_t(2, 6, 8),)], 8, 2, 8
    ),
    "LengthRegulator": lambda: _made(_N + "fastspeech.length_regulator.LengthRegulator", [(_t(2, 6, 8), _i(4, 2, 6))]),
    "AttLoc": lambda: _att("AttLoc", 8, 8, 8, 4, 3),
    "AttDot": lambda: _att("AttDot", 8, 8, 8),
    "AttForward": lambda: _att("AttForward", 8, 8, 8, 4, 3),
    "rnn Encoder": lambda: _made(
        _N + "rnn.encoders.Encoder", [(_t(2, 6, 8), _PAD)], "blstmp", 8, 2, 8, 8, [1, 1, 1], 0.1
    ),
    "tacotron2 Encoder": lambda: _made(
        _N + "tacotron2.encoder.Encoder", [(_i(9, 2, 6), _PAD)], 9, embed_dim=8, eunits=8, econv_chans=8
    ),
}


def _att(name: str, *given: object) -> Built:
    layer = _get(_N + "rnn.attentions." + name)(*given)

    def use(attention: nn.Module, encoded: torch.Tensor, lengths: list[int], state: torch.Tensor) -> torch.Tensor:
        attention.reset()
        _, weights = attention(encoded, lengths, state, None)
        return attention(encoded, lengths, state, weights)

    return held(layer, use, (_t(2, 6, 8), [6, 4], _t(2, 8)))


_P = "espnet2."
_SPEECH = (_t(2, 40, 20), torch.tensor([40, 30]))
_ESPNET2: dict[str, Callable[[], Built]] = {
    "ConformerEncoder": lambda: _made(
        _P + "asr.encoder.conformer_encoder.ConformerEncoder",
        [_SPEECH],
        20,
        8,
        2,
        16,
        1,
        rel_pos_type="latest",
        cnn_module_kernel=3,
    ),
    "TransformerEncoder": lambda: _made(
        _P + "asr.encoder.transformer_encoder.TransformerEncoder", [_SPEECH], 20, 8, 2, 16, 1
    ),
    "BranchformerEncoder": lambda: _made(
        _P + "asr.encoder.branchformer_encoder.BranchformerEncoder",
        [_SPEECH],
        20,
        8,
        attention_heads=2,
        cgmlp_linear_units=16,
        cgmlp_conv_kernel=3,
        num_blocks=1,
    ),
    "EBranchformerEncoder": lambda: _made(
        _P + "asr.encoder.e_branchformer_encoder.EBranchformerEncoder",
        [_SPEECH],
        20,
        8,
        attention_heads=2,
        cgmlp_linear_units=16,
        cgmlp_conv_kernel=3,
        num_blocks=1,
        linear_units=16,
    ),
    "VGGRNNEncoder": lambda: _made(
        _P + "asr.encoder.vgg_rnn_encoder.VGGRNNEncoder", [_SPEECH], 20, hidden_size=8, num_layers=1, output_size=8
    ),
    "RNNEncoder": lambda: _made(
        _P + "asr.encoder.rnn_encoder.RNNEncoder", [_SPEECH], 20, num_layers=2, hidden_size=8, output_size=8
    ),
    "TransformerDecoder": lambda: _made(
        _P + "asr.decoder.transformer_decoder.TransformerDecoder",
        [(_t(2, 10, 8), torch.tensor([10, 7]), _i(9, 2, 5), torch.tensor([5, 4]))],
        9,
        8,
        2,
        16,
        1,
    ),
    "RNNDecoder": lambda: _made(
        _P + "asr.decoder.rnn_decoder.RNNDecoder",
        [(_t(2, 10, 8), torch.tensor([10, 7]), _i(9, 2, 5), torch.tensor([5, 4]))],
        9,
        8,
        hidden_size=8,
        att_conf={"adim": 8, "aconv_chans": 4, "aconv_filts": 3},
    ),
    "TransducerDecoder": lambda: _made(
        _P + "asr.decoder.transducer_decoder.TransducerDecoder", [(_i(9, 2, 5),)], 9, hidden_size=8
    ),
    "CTC": lambda: _made(
        _P + "asr.ctc.CTC", [(_t(2, 10, 8), torch.tensor([10, 7]), _i(8, 2, 4) + 1, torch.tensor([4, 3]))], 9, 8
    ),
    "DefaultFrontend": lambda: _made(
        _P + "asr.frontend.default.DefaultFrontend", [(_t(2, 4000), torch.tensor([4000, 3000]))], n_fft=128, n_mels=10
    ),
    "SpecAug": lambda: _made(
        _P + "asr.specaug.specaug.SpecAug", [_SPEECH], freq_mask_width_range=5, time_mask_width_range=8
    ),
    "mask_along_axis": lambda: _call(_P + "layers.mask_along_axis.mask_along_axis", (*_SPEECH, (0, 5))),
    "time_warp": lambda: _call(_P + "layers.time_warp.time_warp", (_t(2, 40, 20), 5)),
    "TimeWarp": lambda: _made(_P + "layers.time_warp.TimeWarp", [_SPEECH], 5),
    "UtteranceMVN": lambda: _made(_P + "layers.utterance_mvn.UtteranceMVN", [_SPEECH], True, True),
    "Stft": lambda: _made(_P + "layers.stft.Stft", [(_t(2, 2000), torch.tensor([2000, 1500]))], 128),
    "LabelAggregate": lambda: _made(
        _P + "layers.label_aggregation.LabelAggregate", [(_i(2, 2, 2000, 3), torch.tensor([2000, 1500]))]
    ),
    "SincConv": lambda: _made(_P + "layers.sinc_conv.SincConv", [(_t(2, 1, 400),)], 1, 8, 31),
    "FastSpeech2Loss": lambda: _made(
        _P + "tts.fastspeech2.loss.FastSpeech2Loss",
        [
            (
                *(_t(2, 9, 4), _t(2, 9, 4), _t(2, 6), _t(2, 6, 1), _t(2, 6, 1)),
                *(_t(2, 9, 4), _i(4, 2, 6), _t(2, 6, 1), _t(2, 6, 1), _LENGTHS, _MEL_LENGTHS),
            )
        ],
    ),
    "FastSpeech2": lambda: _fastspeech(),
    "GaussianUpsampling": lambda: _made(
        _P + "gan_tts.jets.length_regulator.GaussianUpsampling",
        [(_t(2, 6, 8), torch.tensor([[2, 1, 3, 1, 1, 1], [1, 2, 2, 2, 0, 0]]))],
    ),
    "AlignmentModule": lambda: _made(
        _P + "gan_tts.jets.alignments.AlignmentModule",
        [(_t(2, 6, 8), _t(2, 9, 4), _LENGTHS, _MEL_LENGTHS)],
        8,
        4,
    ),
    "SNRLoss": lambda: _made(_P + "enh.loss.criterions.time_domain.SNRLoss", [(_t(2, 200), _t(2, 200))]),
    "PITSolver": lambda: held(
        _get(_P + "enh.loss.wrappers.pit_solver.PITSolver")(_get(_P + "enh.loss.criterions.time_domain.SNRLoss")()),
        lambda m, a, b: m([a, b], [b, a]),
        (_t(2, 200), _t(2, 200)),
    ),
    "TCNSeparator": lambda: _made(
        _P + "enh.separator.tcn_separator.TCNSeparator",
        [(_t(2, 20, 8), torch.tensor([20, 15]))],
        8,
        layer=2,
        stack=1,
        bottleneck_dim=8,
        hidden_dim=8,
    ),
    "SequentialRNNLM": lambda: held(
        _get(_P + "lm.seq_rnn_lm.SequentialRNNLM")(9, 8, nlayers=1), lambda m, x: m(x, None), (_i(9, 2, 5),)
    ),
    "TransformerLM": lambda: held(
        _get(_P + "lm.transformer_lm.TransformerLM")(9, embed_unit=8, att_unit=8, head=2, unit=16, layer=1),
        lambda m, x: m(x, None),
        (_i(8, 2, 5) + 1,),
    ),
    "force_gatherable": lambda: _call(
        _P + "torch_utils.device_funcs.force_gatherable", ((_t(3).sum(), {"a": _t(2)}, 3), "cpu")
    ),
}


def _fastspeech() -> Built:
    model = _get(_P + "tts.fastspeech2.fastspeech2.FastSpeech2")(
        *(9, 4, 8, 2, 1, 16, 1, 16),
        postnet_layers=1,
        postnet_chans=8,
        duration_predictor_chans=8,
        energy_predictor_chans=8,
        pitch_predictor_chans=8,
    )
    durations = torch.tensor([[2, 1, 3, 1, 1, 1, 0], [1, 2, 2, 2, 0, 0, 0]])
    return model, [
        (
            *(_i(8, 2, 6) + 1, _LENGTHS, _t(2, 9, 4), _MEL_LENGTHS, durations, _LENGTHS + 1),
            *(_t(2, 7, 1), _LENGTHS + 1, _t(2, 7, 1), _LENGTHS + 1),
        )
    ]


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("torchaudio", _AUDIO),
    **_named("allennlp", _ALLEN),
    **_named("TTS", _TTS),
    **_named("espnet", _ESPNET),
    **_named("espnet2", _ESPNET2),
}
