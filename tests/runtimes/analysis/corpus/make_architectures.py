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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

from tests.runtimes.analysis.corpus.make_exports import shorten

t: Any = importlib.import_module("transformers")
_FOLDER = Path(__file__).parents[3] / "analysis" / "corpus" / "models" / "architectures"
_LARGEST = 60 << 10


@dataclass(frozen=True)
class _Architecture:
    """A model to export: how it is made, its inputs, which of its outputs count, and how it is exported."""

    make: Callable[[], nn.Module]
    inputs: Mapping[str, Any]
    outputs: tuple[str, ...]
    exports: tuple[str, ...] = ("dynamo18", "script17")
    fixed: Mapping[str, Any] = field(default_factory=dict)


class _Wrapped(nn.Module):
    def __init__(self, model: nn.Module, architecture: _Architecture) -> None:
        super().__init__()
        self.model, self.architecture = model, architecture

    def forward(self, *operands: Any) -> Any:
        named = dict(zip(self.architecture.inputs, operands, strict=True))
        result = self.model(**named, **self.architecture.fixed)
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
_HIDDEN = ("last_hidden_state",)
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


def _parts(config: type, **more: Any) -> Any:
    """Return the configuration of a model of texts and images."""
    return config(text_config={**_SMALL, **_WORDS}, vision_config=dict(_VISION), projection_dim=8, **more)


def _backbone() -> Any:
    return t.ResNetConfig(
        num_channels=3,
        embedding_size=8,
        hidden_sizes=[8, 12],
        depths=[1, 1],
        layer_type="basic",
        out_features=["stage2"],
    )


def _detector(config: type, width: int = 16, **more: Any) -> Any:
    return config(
        **{"decoder_layers": 1, **more},
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone=None,
        backbone_config=_backbone(),
        d_model=width,
        encoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=24,
        decoder_ffn_dim=24,
        num_queries=4,
        num_labels=3,
        attn_implementation="eager",
    )


_DETECTED: dict[str, Any] = {
    "inputs": {"pixel_values": _WIDER, "pixel_mask": torch.ones(1, 32, 32, dtype=torch.int64)},
    "outputs": ("logits", "pred_boxes"),
}

ARCHITECTURES: dict[str, _Architecture] = {
    "clip": _Architecture(
        lambda: t.CLIPModel(_parts(t.CLIPConfig)), _BOTH, _EMBEDS, ("dynamo18", "dynamo20", "script14", "script17")
    ),
    "siglip": _Architecture(lambda: t.SiglipModel(_parts(t.SiglipConfig)), _BOTH, _EMBEDS),
    "blip": _Architecture(lambda: t.BlipModel(_parts(t.BlipConfig)), _BOTH, _EMBEDS),
    "chinese_clip": _Architecture(lambda: t.ChineseCLIPModel(_parts(t.ChineseCLIPConfig)), _BOTH, _EMBEDS),
    "clipseg": _Architecture(lambda: t.CLIPSegModel(_parts(t.CLIPSegConfig)), _BOTH, _EMBEDS),
    "groupvit": _Architecture(
        lambda: t.GroupViTModel(
            t.GroupViTConfig(
                text_config={**_SMALL, **_WORDS},
                vision_config={
                    **_VISION,
                    "depths": [1, 1, 1],
                    "num_group_tokens": [4, 2, 0],
                    "num_output_groups": [4, 2, 0],
                    "num_hidden_layers": 3,
                },
                projection_dim=8,
                projection_intermediate_dim=8,
            )
        ),
        _BOTH,
        _EMBEDS,
    ),
    "owlvit": _Architecture(lambda: t.OwlViTModel(_parts(t.OwlViTConfig)), _BOTH, _EMBEDS),
    "modernbert_mean": _Architecture(
        lambda: t.ModernBertForSequenceClassification(
            t.ModernBertConfig(
                **_SMALL, **_WORDS, classifier_pooling="mean", num_labels=3, cls_token_id=0, sep_token_id=2
            )
        ),
        _TEXT,
        ("logits",),
        ("dynamo18", "dynamo20", "script14", "script17"),
    ),
    "modernbert_cls": _Architecture(
        lambda: t.ModernBertForSequenceClassification(
            t.ModernBertConfig(
                **_SMALL, **_WORDS, classifier_pooling="cls", num_labels=3, cls_token_id=0, sep_token_id=2
            )
        ),
        _TEXT,
        ("logits",),
    ),
    "wav2vec2_classify": _Architecture(
        lambda: t.Wav2Vec2ForSequenceClassification(t.Wav2Vec2Config(**_SOUND)),
        {"input_values": _WAVE, "attention_mask": _WAVE_MASK},
        ("logits",),
    ),
    "hubert_classify": _Architecture(
        lambda: t.HubertForSequenceClassification(t.HubertConfig(**_SOUND)),
        {"input_values": _WAVE, "attention_mask": _WAVE_MASK},
        ("logits",),
    ),
    "wav2vec2": _Architecture(lambda: t.Wav2Vec2Model(t.Wav2Vec2Config(**_SOUND)), {"input_values": _WAVE}, _HIDDEN),
    "detr": _Architecture(lambda: t.DetrForObjectDetection(_detector(t.DetrConfig)), **_DETECTED),
    "conditional_detr": _Architecture(
        lambda: t.ConditionalDetrForObjectDetection(_detector(t.ConditionalDetrConfig)), **_DETECTED
    ),
    "deformable_detr": _Architecture(
        lambda: t.DeformableDetrForObjectDetection(
            _detector(t.DeformableDetrConfig, 32, decoder_layers=2, num_feature_levels=1, disable_custom_kernels=True)
        ),
        **_DETECTED,
        exports=("dynamo18",),
    ),
    "mixtral": _Architecture(
        lambda: t.MixtralModel(t.MixtralConfig(**_WRITER, num_local_experts=4, experts_implementation="batched_mm")),
        _TEXT,
        _HIDDEN,
    ),
    "qwen2_moe": _Architecture(
        lambda: t.Qwen2MoeModel(
            t.Qwen2MoeConfig(
                **_WRITER,
                experts_implementation="batched_mm",
                num_experts=4,
                num_experts_per_tok=2,
                norm_topk_prob=True,
                moe_intermediate_size=8,
                shared_expert_intermediate_size=8,
            )
        ),
        _TEXT,
        _HIDDEN,
    ),
    "deepseek_v3": _Architecture(
        lambda: t.DeepseekV3Model(
            t.DeepseekV3Config(
                **{**_WRITER, "num_key_value_heads": 2},
                experts_implementation="batched_mm",
                n_routed_experts=4,
                num_experts_per_tok=2,
                n_group=2,
                topk_group=1,
                moe_intermediate_size=8,
                first_k_dense_replace=1,
                kv_lora_rank=8,
                q_lora_rank=8,
                qk_rope_head_dim=4,
                qk_nope_head_dim=4,
                v_head_dim=8,
            )
        ),
        _TEXT,
        _HIDDEN,
    ),
    "cohere2_moe": _Architecture(
        lambda: t.Cohere2MoeModel(
            t.Cohere2MoeConfig(
                **_WRITER,
                experts_implementation="batched_mm",
                num_experts=4,
                num_experts_per_tok=2,
                expert_selection_fn="sigmoid",
                norm_topk_prob=True,
                head_dim=8,
                num_shared_experts=0,
            )
        ),
        _TEXT,
        _HIDDEN,
        exports=("dynamo18",),
    ),
    "bert_sdpa": _Architecture(
        lambda: t.BertModel(t.BertConfig(**{**_SMALL, **_WORDS, "attn_implementation": "sdpa"})), _TEXT, _HIDDEN
    ),
    "llama_sdpa": _Architecture(
        lambda: t.LlamaModel(t.LlamaConfig(**{**_WRITER, "attn_implementation": "sdpa"})), _TEXT, _HIDDEN
    ),
    "sew_classify": _Architecture(
        lambda: t.SEWForSequenceClassification(
            t.SEWConfig(**{**_SOUND, "feat_extract_norm": "layer"}, squeeze_factor=1)
        ),
        {"input_values": _WAVE, "attention_mask": _WAVE_MASK},
        ("logits",),
    ),
    "wavlm_classify": _Architecture(
        lambda: t.WavLMForSequenceClassification(t.WavLMConfig(**_SOUND, num_buckets=8)),
        {"input_values": _WAVE, "attention_mask": _WAVE_MASK},
        ("logits",),
    ),
    "patchtst": _Architecture(
        lambda: t.PatchTSTModel(
            t.PatchTSTConfig(
                num_input_channels=2,
                context_length=16,
                patch_length=4,
                patch_stride=4,
                d_model=8,
                ffn_dim=8,
                num_hidden_layers=1,
                num_attention_heads=2,
                norm_type="layernorm",
                scaling="std",
            )
        ),
        {"past_values": torch.linspace(-1, 1, 32).reshape(1, 16, 2), "past_observed_mask": torch.ones(1, 16, 2)},
        _HIDDEN,
        exports=("dynamo18",),
    ),
    "bert": _Architecture(
        lambda: t.BertModel(t.BertConfig(**_SMALL, **_WORDS)),
        _TEXT,
        ("last_hidden_state", "pooler_output"),
        ("dynamo18", "dynamo20", "script14", "script17"),
    ),
    "roberta": _Architecture(lambda: t.RobertaModel(t.RobertaConfig(**_SMALL, **_WORDS)), _TEXT, _HIDDEN),
    "esm": _Architecture(
        lambda: t.EsmModel(
            t.EsmConfig(**_SMALL, **_WORDS, mask_token_id=31, token_dropout=True, position_embedding_type="rotary")
        ),
        _TEXT,
        _HIDDEN,
    ),
    "albert": _Architecture(
        lambda: t.AlbertModel(t.AlbertConfig(**_SMALL, **_WORDS, embedding_size=8)), _TEXT, _HIDDEN
    ),
    "electra": _Architecture(
        lambda: t.ElectraModel(t.ElectraConfig(**_SMALL, **_WORDS, embedding_size=8)), _TEXT, _HIDDEN
    ),
    "mpnet": _Architecture(lambda: t.MPNetModel(t.MPNetConfig(**_SMALL, **_WORDS)), _TEXT, _HIDDEN),
    "distilbert": _Architecture(
        lambda: t.DistilBertModel(
            t.DistilBertConfig(
                vocab_size=32,
                max_position_embeddings=16,
                dim=16,
                hidden_dim=24,
                n_layers=2,
                n_heads=2,
                initializer_range=0.2,
                attn_implementation="eager",
            )
        ),
        _TEXT,
        _HIDDEN,
    ),
    "layoutlm": _Architecture(
        lambda: t.LayoutLMModel(t.LayoutLMConfig(**_SMALL, **_WORDS, max_2d_position_embeddings=16)),
        {**_TEXT, "bbox": torch.arange(48).reshape(2, 6, 4) % 4},
        _HIDDEN,
    ),
    "llama": _Architecture(
        lambda: t.LlamaModel(t.LlamaConfig(**_WRITER)), _TEXT, _HIDDEN, ("dynamo18", "dynamo20", "script14", "script17")
    ),
    "mistral": _Architecture(lambda: t.MistralModel(t.MistralConfig(**_WRITER)), _TEXT, _HIDDEN),
    "qwen2": _Architecture(lambda: t.Qwen2Model(t.Qwen2Config(**_WRITER)), _TEXT, _HIDDEN),
    "qwen3": _Architecture(lambda: t.Qwen3Model(t.Qwen3Config(**_WRITER, head_dim=8)), _TEXT, _HIDDEN),
    "gemma": _Architecture(lambda: t.GemmaModel(t.GemmaConfig(**_WRITER, head_dim=8)), _TEXT, _HIDDEN),
    "phi": _Architecture(lambda: t.PhiModel(t.PhiConfig(**{**_WRITER, "num_key_value_heads": 2})), _TEXT, _HIDDEN),
    "gpt2": _Architecture(
        lambda: t.GPT2Model(
            t.GPT2Config(
                vocab_size=32,
                n_positions=16,
                n_embd=16,
                n_layer=2,
                n_head=2,
                initializer_range=0.2,
                use_cache=False,
                attn_implementation="eager",
                bos_token_id=0,
                eos_token_id=2,
            )
        ),
        _TEXT,
        _HIDDEN,
    ),
    "t5_encoder": _Architecture(
        lambda: t.T5EncoderModel(
            t.T5Config(
                vocab_size=32,
                d_model=16,
                d_kv=8,
                d_ff=24,
                num_layers=2,
                num_heads=2,
                relative_attention_num_buckets=8,
                attn_implementation="eager",
            )
        ),
        _TEXT,
        _HIDDEN,
    ),
    "vit": _Architecture(
        lambda: t.ViTModel(t.ViTConfig(**_VISION)), _IMAGE, _HIDDEN, ("dynamo18", "dynamo20", "script14", "script17")
    ),
    "deit": _Architecture(lambda: t.DeiTModel(t.DeiTConfig(**_VISION)), _IMAGE, _HIDDEN),
    "beit": _Architecture(lambda: t.BeitModel(t.BeitConfig(**_VISION)), _IMAGE, _HIDDEN),
    "dinov2": _Architecture(lambda: t.Dinov2Model(t.Dinov2Config(**{**_VISION, "mlp_ratio": 2})), _IMAGE, _HIDDEN),
    "swin": _Architecture(
        lambda: t.SwinModel(
            t.SwinConfig(
                image_size=16,
                patch_size=2,
                embed_dim=8,
                depths=[2, 1],
                num_heads=[1, 2],
                window_size=4,
                initializer_range=0.2,
                attn_implementation="eager",
            )
        ),
        {"pixel_values": _WIDER[:, :, :16, :16].contiguous()},
        _HIDDEN,
    ),
    "swinv2": _Architecture(
        lambda: t.Swinv2Model(
            t.Swinv2Config(
                image_size=16,
                patch_size=2,
                embed_dim=8,
                depths=[2, 1],
                num_heads=[1, 2],
                window_size=4,
                initializer_range=0.2,
                attn_implementation="eager",
            )
        ),
        {"pixel_values": _WIDER[:, :, :16, :16].contiguous()},
        _HIDDEN,
        exports=("script17",),
    ),
    "resnet": _Architecture(
        lambda: t.ResNetForImageClassification(
            t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=3)
        ),
        {"pixel_values": _WIDER},
        ("logits",),
    ),
    "convnext": _Architecture(
        lambda: t.ConvNextModel(
            t.ConvNextConfig(hidden_sizes=[8, 12], depths=[1, 1], num_stages=2, initializer_range=0.2)
        ),
        {"pixel_values": _WIDER},
        ("last_hidden_state", "pooler_output"),
    ),
    "convnextv2": _Architecture(
        lambda: t.ConvNextV2Model(
            t.ConvNextV2Config(hidden_sizes=[8, 12], depths=[1, 1], num_stages=2, initializer_range=0.2)
        ),
        {"pixel_values": _WIDER},
        ("last_hidden_state", "pooler_output"),
    ),
    "mobilenet_v2": _Architecture(
        lambda: t.MobileNetV2Model(
            t.MobileNetV2Config(
                depth_multiplier=0.1, min_depth=4, depth_divisible_by=4, finegrained_output=False, image_size=32
            )
        ),
        {"pixel_values": _WIDER},
        _HIDDEN,
    ),
    "mobilevit": _Architecture(
        lambda: t.MobileViTModel(
            t.MobileViTConfig(
                image_size=32,
                hidden_sizes=[8, 8, 8],
                neck_hidden_sizes=[4, 4, 4, 4, 4, 4, 8],
                num_attention_heads=2,
                initializer_range=0.2,
                attn_implementation="eager",
            )
        ),
        {"pixel_values": _WIDER},
        _HIDDEN,
    ),
    "segformer": _Architecture(
        lambda: t.SegformerForSemanticSegmentation(
            t.SegformerConfig(
                num_encoder_blocks=2,
                depths=[1, 1],
                sr_ratios=[2, 1],
                hidden_sizes=[8, 12],
                patch_sizes=[7, 3],
                strides=[4, 2],
                num_attention_heads=[1, 2],
                mlp_ratios=[2, 2],
                decoder_hidden_size=8,
                num_labels=3,
                initializer_range=0.2,
            )
        ),
        {"pixel_values": _WIDER},
        ("logits",),
    ),
    "whisper_encoder": _Architecture(
        lambda: (
            t.WhisperModel(
                t.WhisperConfig(
                    vocab_size=32,
                    num_mel_bins=8,
                    encoder_layers=1,
                    decoder_layers=1,
                    encoder_attention_heads=2,
                    decoder_attention_heads=2,
                    d_model=16,
                    encoder_ffn_dim=24,
                    decoder_ffn_dim=24,
                    max_source_positions=16,
                    max_target_positions=8,
                    init_std=0.2,
                    attn_implementation="eager",
                    pad_token_id=1,
                    bos_token_id=2,
                    eos_token_id=2,
                    decoder_start_token_id=2,
                )
            ).encoder
        ),
        {"input_features": torch.linspace(-1, 1, 256).reshape(1, 8, 32)},
        _HIDDEN,
    ),
}


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
