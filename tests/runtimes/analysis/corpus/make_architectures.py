"""Architectures of the transformers library with small random weights, exported by both exporters.

They need transformers, PyTorch and onnxscript, and write tests/analysis/corpus/models/architectures:
``python -m tests.runtimes.analysis.corpus.make_architectures [NAME ...]``. Those there are of transformers 5.23.0,
PyTorch 2.13.0 and onnxscript 0.7.2. Weights are drawn from a seed and rounded to 1/64, so that they pack well. Nothing
is fetched: configurations alone.
"""

from __future__ import annotations

import gzip
import importlib
import sys
import tempfile
import warnings
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

from tests.runtimes.analysis.corpus.make_exports import shorten

t: Any = importlib.import_module("transformers")
_FOLDER = Path(__file__).parents[3] / "analysis" / "corpus" / "models" / "architectures"
_LARGEST = 60 << 10


_TWO, _ALL = ("dynamo18", "script17"), ("dynamo18", "dynamo20", "script14", "script17")


@dataclass(frozen=True)
class _Architecture:
    """A model to export: the names of its class and its configuration's, inputs, outputs that count, and exporters."""

    name: str
    config: Mapping[str, Any]
    inputs: Mapping[str, Any]
    outputs: tuple[str, ...] = ("last_hidden_state",)
    exports: tuple[str, ...] = _TWO

    def make(self) -> nn.Module:
        """Return the model: `NAME.part` is a part of it, and a name without a task is that of the bare model."""
        name, _, part = self.name.partition(".")
        family, _, task = name.partition("For")
        config = getattr(t, f"{family.removesuffix('Encoder')}Config")(**deepcopy(dict(self.config)))
        made = getattr(t, name if task else f"{family}Model")(config)
        return getattr(made, part) if part else made


class _Wrapped(nn.Module):
    def __init__(self, model: nn.Module, architecture: _Architecture) -> None:
        super().__init__()
        self.model, self.architecture = model, architecture

    def forward(self, *operands: Any) -> Any:
        named = dict(zip(self.architecture.inputs, operands, strict=True))
        result = self.model(**named)
        return tuple(result[name] for name in self.architecture.outputs)


_IDS = torch.tensor([[3, 5, 7, 9, 2, 1], [4, 6, 8, 2, 1, 1]])
_MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
_PIXELS = torch.linspace(-1, 1, 2 * 3 * 8 * 8).reshape(2, 3, 8, 8)
_WIDER = torch.linspace(-1, 1, 3 * 32 * 32).reshape(1, 3, 32, 32)
_WAVE = torch.sin(torch.arange(160.0)).reshape(1, 160)
_WAVE_MASK = torch.ones(1, 160, dtype=torch.int64)

_TEXT = {"input_ids": _IDS, "attention_mask": _MASK}
_BOTH = {"input_ids": _IDS, "pixel_values": _PIXELS, "attention_mask": _MASK}
_IMAGE = {"pixel_values": _PIXELS}
_SOUND_IN = {"input_values": _WAVE, "attention_mask": _WAVE_MASK}
_LARGER_IMAGE = {"pixel_values": _WIDER}
_LOGITS = ("logits",)
_EMBEDS = ("text_embeds", "image_embeds")

_SMALL: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "attn_implementation": "eager",
    "initializer_range": 0.2,
}
_WORDS: dict[str, Any] = {
    "vocab_size": 32,
    "max_position_embeddings": 16,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "pad_token_id": 1,
}
_VISION: dict[str, Any] = {**_SMALL, "image_size": 8, "patch_size": 4}
_WRITER = {**_SMALL, **_WORDS, "num_key_value_heads": 1, "use_cache": False}
_SOUND: dict[str, Any] = {
    **_SMALL,
    "vocab_size": 12,
    "conv_dim": (8, 8),
    "conv_kernel": (10, 3),
    "conv_stride": (5, 2),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 4,
    "num_conv_pos_embedding_groups": 2,
    "classifier_proj_size": 8,
    "num_labels": 3,
    "feat_extract_norm": "layer",
    "do_stable_layer_norm": False,
}


_PARTS = {"text_config": {**_SMALL, **_WORDS}, "vision_config": _VISION, "projection_dim": 8}
_HALF: dict[str, Any] = {"initializer_range": 0.2, "attn_implementation": "eager"}
_EXPERTS: dict[str, Any] = {**_WRITER, "experts_implementation": "batched_mm"}
_CHOSEN: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "norm_topk_prob": True}
_POOLED: dict[str, Any] = {**_SMALL, **_WORDS, "num_labels": 3, "cls_token_id": 0, "sep_token_id": 2}
_WINDOWS: dict[str, Any] = {
    **_HALF, "image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [2, 1], "num_heads": [1, 2], "window_size": 4,
}  # fmt: skip
_STAGES: dict[str, Any] = {"hidden_sizes": [8, 12], "depths": [1, 1], "num_stages": 2, "initializer_range": 0.2}
_SMALL_WINDOWS = {"pixel_values": _WIDER[:, :, :16, :16].contiguous()}
_DETECTOR: dict[str, Any] = {
    "use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None, "d_model": 16, "encoder_layers": 1,
    "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24, "num_queries": 4, "num_labels": 3, "attn_implementation": "eager",
    "backbone_config": t.ResNetConfig(num_channels=3, embedding_size=8, hidden_sizes=[8, 12], depths=[1, 1],
                                      layer_type="basic", out_features=["stage2"]),
}  # fmt: skip
_DETECTED: dict[str, Any] = {
    "inputs": {"pixel_values": _WIDER, "pixel_mask": torch.ones(1, 32, 32, dtype=torch.int64)},
    "outputs": ("logits", "pred_boxes"),
}

ARCHITECTURES: dict[str, _Architecture] = {
    "clip": _Architecture("CLIP", _PARTS, _BOTH, _EMBEDS, _ALL),
    "siglip": _Architecture("Siglip", _PARTS, _BOTH, _EMBEDS),
    "blip": _Architecture("Blip", _PARTS, _BOTH, _EMBEDS),
    "chinese_clip": _Architecture("ChineseCLIP", _PARTS, _BOTH, _EMBEDS),
    "clipseg": _Architecture("CLIPSeg", _PARTS, _BOTH, _EMBEDS),
    "groupvit": _Architecture("GroupViT", {**_PARTS, "projection_intermediate_dim": 8, "vision_config": {
        **_VISION, "depths": [1, 1, 1], "num_group_tokens": [4, 2, 0], "num_output_groups": [4, 2, 0],
        "num_hidden_layers": 3,
    }}, _BOTH, _EMBEDS),
    "owlvit": _Architecture("OwlViT", _PARTS, _BOTH, _EMBEDS),
    "modernbert_mean": _Architecture(
        "ModernBertForSequenceClassification", {**_POOLED, "classifier_pooling": "mean"}, _TEXT, _LOGITS, _ALL),
    "modernbert_cls": _Architecture(
        "ModernBertForSequenceClassification", {**_POOLED, "classifier_pooling": "cls"}, _TEXT, _LOGITS),
    "wav2vec2_classify": _Architecture("Wav2Vec2ForSequenceClassification", _SOUND, _SOUND_IN, _LOGITS),
    "hubert_classify": _Architecture("HubertForSequenceClassification", _SOUND, _SOUND_IN, _LOGITS),
    "wav2vec2": _Architecture("Wav2Vec2", _SOUND, {"input_values": _WAVE}),
    "detr": _Architecture("DetrForObjectDetection", _DETECTOR, **_DETECTED),
    "conditional_detr": _Architecture("ConditionalDetrForObjectDetection", _DETECTOR, **_DETECTED),
    "deformable_detr": _Architecture("DeformableDetrForObjectDetection", {
        **_DETECTOR, "d_model": 32, "decoder_layers": 2, "num_feature_levels": 1, "disable_custom_kernels": True,
    }, **_DETECTED, exports=("dynamo18",)),
    "mixtral": _Architecture("Mixtral", {**_EXPERTS, "num_local_experts": 4}, _TEXT),
    "qwen2_moe": _Architecture("Qwen2Moe", {
        **_EXPERTS, **_CHOSEN, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8,
    }, _TEXT),
    "deepseek_v3": _Architecture("DeepseekV3", {
        **_EXPERTS, "num_key_value_heads": 2, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 2,
        "topk_group": 1, "moe_intermediate_size": 8, "first_k_dense_replace": 1, "kv_lora_rank": 8, "q_lora_rank": 8,
        "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8,
    }, _TEXT),
    "cohere2_moe": _Architecture("Cohere2Moe", {
        **_EXPERTS, **_CHOSEN, "expert_selection_fn": "sigmoid", "head_dim": 8, "num_shared_experts": 0,
    }, _TEXT, exports=("dynamo18",)),
    "bert_sdpa": _Architecture("Bert", {**_SMALL, **_WORDS, "attn_implementation": "sdpa"}, _TEXT),
    "llama_sdpa": _Architecture("Llama", {**_WRITER, "attn_implementation": "sdpa"}, _TEXT),
    "sew_classify": _Architecture("SEWForSequenceClassification", {**_SOUND, "squeeze_factor": 1}, _SOUND_IN, _LOGITS),
    "wavlm_classify": _Architecture("WavLMForSequenceClassification", {**_SOUND, "num_buckets": 8}, _SOUND_IN, _LOGITS),
    "patchtst": _Architecture("PatchTST", {
        "num_input_channels": 2, "context_length": 16, "patch_length": 4, "patch_stride": 4, "d_model": 8, "ffn_dim": 8,
        "num_hidden_layers": 1, "num_attention_heads": 2, "norm_type": "layernorm", "scaling": "std",
    }, {"past_values": torch.linspace(-1, 1, 32).reshape(1, 16, 2), "past_observed_mask": torch.ones(1, 16, 2)},
        exports=("dynamo18",)),
    "bert": _Architecture("Bert", {**_SMALL, **_WORDS}, _TEXT, ("last_hidden_state", "pooler_output"), _ALL),
    "roberta": _Architecture("Roberta", {**_SMALL, **_WORDS}, _TEXT),
    "esm": _Architecture("Esm", {
        **_SMALL, **_WORDS, "mask_token_id": 31, "token_dropout": True, "position_embedding_type": "rotary",
    }, _TEXT),
    "albert": _Architecture("Albert", {**_SMALL, **_WORDS, "embedding_size": 8}, _TEXT),
    "electra": _Architecture("Electra", {**_SMALL, **_WORDS, "embedding_size": 8}, _TEXT),
    "mpnet": _Architecture("MPNet", {**_SMALL, **_WORDS}, _TEXT),
    "distilbert": _Architecture("DistilBert", {
        **_HALF, "vocab_size": 32, "max_position_embeddings": 16, "dim": 16, "hidden_dim": 24, "n_layers": 2,
        "n_heads": 2,
    }, _TEXT),
    "layoutlm": _Architecture("LayoutLM", {**_SMALL, **_WORDS, "max_2d_position_embeddings": 16},
                              {**_TEXT, "bbox": torch.arange(48).reshape(2, 6, 4) % 4}),
    "llama": _Architecture("Llama", _WRITER, _TEXT, exports=_ALL),
    "mistral": _Architecture("Mistral", _WRITER, _TEXT),
    "qwen2": _Architecture("Qwen2", _WRITER, _TEXT),
    "qwen3": _Architecture("Qwen3", {**_WRITER, "head_dim": 8}, _TEXT),
    "gemma": _Architecture("Gemma", {**_WRITER, "head_dim": 8}, _TEXT),
    "phi": _Architecture("Phi", {**_WRITER, "num_key_value_heads": 2}, _TEXT),
    "gpt2": _Architecture("GPT2", {
        **_HALF, "vocab_size": 32, "n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2, "use_cache": False,
        "bos_token_id": 0, "eos_token_id": 2,
    }, _TEXT),
    "t5_encoder": _Architecture("T5Encoder", {
        "vocab_size": 32, "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2,
        "relative_attention_num_buckets": 8, "attn_implementation": "eager",
    }, _TEXT),
    "vit": _Architecture("ViT", _VISION, _IMAGE, exports=_ALL),
    "deit": _Architecture("DeiT", _VISION, _IMAGE),
    "beit": _Architecture("Beit", _VISION, _IMAGE),
    "dinov2": _Architecture("Dinov2", {**_VISION, "mlp_ratio": 2}, _IMAGE),
    "swin": _Architecture("Swin", _WINDOWS, _SMALL_WINDOWS),
    "swinv2": _Architecture("Swinv2", _WINDOWS, _SMALL_WINDOWS, exports=("script17",)),
    "resnet": _Architecture("ResNetForImageClassification", {
        "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic", "num_labels": 3,
    }, _LARGER_IMAGE, _LOGITS),
    "convnext": _Architecture("ConvNext", _STAGES, _LARGER_IMAGE, ("last_hidden_state", "pooler_output")),
    "convnextv2": _Architecture("ConvNextV2", _STAGES, _LARGER_IMAGE, ("last_hidden_state", "pooler_output")),
    "mobilenet_v2": _Architecture("MobileNetV2", {
        "depth_multiplier": 0.1, "min_depth": 4, "depth_divisible_by": 4, "finegrained_output": False, "image_size": 32,
    }, _LARGER_IMAGE),
    "mobilevit": _Architecture("MobileViT", {
        **_HALF, "image_size": 32, "hidden_sizes": [8, 8, 8], "neck_hidden_sizes": [4, 4, 4, 4, 4, 4, 8],
        "num_attention_heads": 2,
    }, _LARGER_IMAGE),
    "segformer": _Architecture("SegformerForSemanticSegmentation", {
        "num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1], "hidden_sizes": [8, 12], "patch_sizes": [7, 3],
        "strides": [4, 2], "num_attention_heads": [1, 2], "mlp_ratios": [2, 2], "decoder_hidden_size": 8,
        "num_labels": 3, "initializer_range": 0.2,
    }, _LARGER_IMAGE, _LOGITS),
    "whisper_encoder": _Architecture("Whisper.encoder", {
        "vocab_size": 32, "num_mel_bins": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "d_model": 16, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
        "max_source_positions": 16, "max_target_positions": 8, "init_std": 0.2, "attn_implementation": "eager",
        "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 2, "decoder_start_token_id": 2,
    }, {"input_features": torch.linspace(-1, 1, 256).reshape(1, 8, 32)}),
}  # fmt: skip


def main(names: list[str]) -> None:
    """Write the architectures of these names, all if there are none, as each exporter writes them."""
    _FOLDER.mkdir(exist_ok=True)
    print(f"transformers {t.__version__}, torch {torch.__version__}, onnx {onnx.__version__}")
    for name, architecture in ARCHITECTURES.items():
        if names and name not in names:
            continue
        for export in architecture.exports:
            try:
                packed = gzip.compress(_exported(architecture, export), 9, mtime=0)
            except Exception as error:
                print(f"{name}.{export}: {type(error).__name__} {str(error).strip().splitlines()[0][:300]}", flush=True)
                continue
            if len(packed) > _LARGEST:
                print(f"{name}.{export}: {len(packed)} bytes are too many", flush=True)
                continue
            (_FOLDER / f"{name}.{export}.onnx.gz").write_bytes(packed)
            print(f"{name}.{export}: {len(packed)} bytes", flush=True)


def _exported(architecture: _Architecture, export: str) -> bytes:
    torch.manual_seed(0)
    exporter, opset = export[:6], int(export[6:])
    model = architecture.make().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.round(parameter * 64) / 64)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        path = Path(folder) / "model.onnx"
        torch.onnx.export(
            _Wrapped(model, architecture),
            tuple(architecture.inputs.values()),
            str(path),
            dynamo=exporter == "dynamo",
            opset_version=opset,
            input_names=list(architecture.inputs),
            output_names=list(architecture.outputs),
            external_data=False,
            verbose=False,
        )
        exported = onnx.load(path)
    shorten(exported)
    for node in exported.graph.node:  # Only of divisions is the program's line worth its bytes.
        if node.op_type not in ("Div", "Reciprocal", "Mod"):
            del node.metadata_props[:]
    del exported.graph.value_info[:]
    return bytes(exported.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main(sys.argv[1:])
