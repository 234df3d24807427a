"""The kinds of index that are measured: a library, how it is built, and what its searches are tuned by."""

from dataclasses import dataclass, field

from .libraries import M, Faiss, Hnswlib, Refined, Scann, Svs, Turbovec, Usearch, UsearchRowCodes, Vsag, Voyager


@dataclass
class Kind:
    library: type
    options: dict = field(default_factory=dict)
    """How the index is built."""
    breadth: str = ""
    """The setting that trades time for recall; empty for an exact scan."""
    second: tuple = ()
    """Another setting of a search, and the values that are tried with each breadth."""
    can_filter: bool = False

    def second_settings(self):
        if not self.second:
            return [{}]
        name, values = self.second
        return [{name: value} for value in values]


CANDIDATES = ("candidates", [10, 20, 40])
REFINE_FACTOR = ("k_factor_rf", [1, 2, 4])
SQ8_AND_F32 = {"base_quantization_type": "sq8_uniform", "use_reorder": True, "precise_quantization_type": "fp32"}
KINDS = {
    "hnswlib": Kind(Hnswlib, {}, "ef"),
    "faiss-flat": Kind(Faiss, {"factory": "Flat"}, can_filter=True),
    "faiss-hnsw": Kind(Faiss, {"factory": f"HNSW{M},Flat"}, "efSearch", can_filter=True),
    "faiss-hnsw-bf16": Kind(Faiss, {"factory": f"HNSW{M}_SQbf16"}, "efSearch"),
    "faiss-hnsw-sq8": Kind(Faiss, {"factory": f"HNSW{M}_SQ8,RFlat"}, "efSearch", REFINE_FACTOR),
    "faiss-ivf-sq8": Kind(Faiss, {"factory": "IVF{lists},SQ8,RFlat"}, "nprobe", REFINE_FACTOR),
    "faiss-ivf-pqfs": Kind(Faiss, {"factory": "IVF{lists},PQ192x4fs,RFlat"}, "nprobe", ("k_factor_rf", [4, 10, 25])),
    "usearch-f32": Kind(Usearch, {"dtype": "f32"}, "ef"),
    "usearch-bf16": Kind(Usearch, {"dtype": "bf16"}, "ef"),
    "usearch-i8": Kind(Refined, {"library": Usearch, "dtype": "i8"}, "ef", CANDIDATES),
    "usearch-i8-codes": Kind(Refined, {"library": UsearchRowCodes}, "ef", CANDIDATES),
    "voyager-f32": Kind(Voyager, {"storage": "Float32"}, "ef"),
    "voyager-i8": Kind(Refined, {"library": Voyager, "storage": "Float8"}, "ef", CANDIDATES),
    "vsag-f32": Kind(Vsag, {"base_quantization_type": "fp32"}, "ef"),
    "vsag-sq8": Kind(Vsag, SQ8_AND_F32, "ef"),
    "svs-f32": Kind(Svs, {"dtype": "float32"}, "ef"),
    "svs-f16": Kind(Svs, {"dtype": "float16"}, "ef"),
    "scann-tree": Kind(Scann, {"has_tree": True}, "leaves", ("reorder", [30, 100, 300])),
    "scann-scan": Kind(Scann, {"has_tree": False}, "reorder"),
    "turbovec-4": Kind(Refined, {"library": Turbovec, "bits": 4}, "candidates", can_filter=True),
    "turbovec-2": Kind(Refined, {"library": Turbovec, "bits": 2}, "candidates", can_filter=True),
}
