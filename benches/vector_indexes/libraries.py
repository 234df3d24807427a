"""One class per library: each builds an index of f32 rows in one thread and searches it by inner product.

A library is imported when its class is constructed, so that those that are not installed can be left out.
"""

import json
import os
import tempfile
from pathlib import Path

import numpy as np

from . import K

M = 16
"""Links per row of a graph; 32 on the lowest level."""
EF_CONSTRUCTION = 200
"""Breadth of the searches that build a graph."""


class Library:
    """An index of the rows of `base`.

    `configure` takes the settings of a search. Searches return ids of shape (queries, k). `restrict` takes a mask of the rows to
    search; only libraries whose Python package can filter without a call per row have it."""

    def configure(self):
        pass

    def search_many(self, queries, k):
        raise NotImplementedError

    def search_one(self, query, k):
        """`query` has the shape (1, components)."""
        return self.search_many(query, k)

    def n_bytes(self):
        """Bytes of the serialised index."""
        raise NotImplementedError


def saved_bytes(save):
    """Bytes of what `save` writes at a path, a file or a folder."""
    with tempfile.TemporaryDirectory() as folder:
        save(os.path.join(folder, "index"))
        return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


class Hnswlib(Library):
    def __init__(self, base):
        import hnswlib

        self.index = hnswlib.Index(space="ip", dim=base.shape[1])
        self.index.init_index(max_elements=len(base), M=M, ef_construction=EF_CONSTRUCTION, random_seed=1)
        self.index.set_num_threads(1)
        self.index.add_items(base)

    def configure(self, ef):
        self.index.set_ef(ef)

    def search_many(self, queries, k):
        return self.index.knn_query(queries, k=k)[0]

    def n_bytes(self):
        return saved_bytes(self.index.save_index)


class Faiss(Library):
    def __init__(self, base, factory):
        import faiss

        faiss.omp_set_num_threads(1)
        self.faiss, self.settings = faiss, faiss.ParameterSpace()
        self.filter, self.params = None, None
        factory = factory.format(lists=round(4 * len(base) ** 0.5))
        self.index = faiss.index_factory(base.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        if "HNSW" in factory:
            self.configure(efConstruction=EF_CONSTRUCTION)
        self.index.train(base)
        self.index.add(base)

    def configure(self, **settings):
        for name, value in settings.items():
            self.settings.set_index_parameter(self.index, name, value)
        if self.filter is not None:  # parameters of a call replace those of the index
            params = self.faiss.SearchParametersHNSW if settings else self.faiss.SearchParameters
            self.params = params(sel=self.filter, **settings)

    def restrict(self, wanted):
        bits = None if wanted is None else np.packbits(wanted, bitorder="little")
        self.filter, self.params = None if bits is None else self.faiss.IDSelectorBitmap(bits), None

    def search_many(self, queries, k):
        return self.index.search(queries, k, params=self.params)[1]

    def n_bytes(self):
        return len(self.faiss.serialize_index(self.index))


class Usearch(Library):
    def __init__(self, base, dtype, metric="ip"):
        from usearch.index import Index

        self.index = Index(ndim=base.shape[1], metric=metric, dtype=dtype, connectivity=M, expansion_add=EF_CONSTRUCTION)
        self.index.add(np.arange(len(base), dtype=np.uint64), self.encode(base), threads=1)

    def encode(self, rows):
        return rows

    def configure(self, ef):
        self.index.expansion_search = ef

    def search_many(self, queries, k):
        return self.index.search(self.encode(queries), k, threads=1).keys.reshape(len(queries), -1)

    def n_bytes(self):
        return len(self.index.save())


class UsearchRowCodes(Usearch):
    """Given the codes that adage uses: int8, scaled row by row. The library's own codes have one fixed step for all rows."""

    def __init__(self, base):
        super().__init__(base, "i8", "cos")

    def encode(self, rows):
        return np.rint(rows / np.abs(rows).max(axis=1, keepdims=True) * 127).astype(np.int8)


class Voyager(Library):
    def __init__(self, base, storage):
        import voyager

        storage = getattr(voyager.StorageDataType, storage)
        options = {"M": M, "ef_construction": EF_CONSTRUCTION, "max_elements": len(base), "random_seed": 1}
        self.index = voyager.Index(voyager.Space.InnerProduct, base.shape[1], storage_data_type=storage, **options)
        self.index.add_items(base, num_threads=1)

    def configure(self, ef):
        self.ef = ef

    def search_many(self, queries, k):
        return self.index.query(queries, k=k, num_threads=1, query_ef=max(self.ef, k))[0]

    def n_bytes(self):
        return saved_bytes(self.index.save)


class Vsag(Library):
    search_many = None  # its Python package has no call for several queries

    def __init__(self, base, **codes):
        import pyvsag

        pyvsag.set_logger_off()
        rows, components = base.shape
        shape = {"max_degree": 2 * M, "ef_construction": EF_CONSTRUCTION, "build_thread_count": 1}
        options = {"dtype": "float32", "metric_type": "ip", "dim": components, "index_param": shape | codes}
        self.index = pyvsag.Index("hgraph", json.dumps(options))
        self.index.build(vectors=base.ravel(), ids=np.arange(rows), num_elements=rows, dim=components)

    def configure(self, ef):
        self.settings = json.dumps({"hgraph": {"ef_search": ef}})

    def search_one(self, query, k):
        return self.index.knn_search(vector=query[0], k=k, parameters=self.settings)[0][None]

    def n_bytes(self):
        return saved_bytes(self.index.save)


class Svs(Library):
    """Intel's scalable-vs: a Vamana graph."""

    def __init__(self, base, dtype):
        import svs

        self.dtype = dtype
        shape = svs.VamanaBuildParameters(alpha=0.95, graph_max_degree=2 * M, window_size=EF_CONSTRUCTION)
        self.index = svs.Vamana.build(shape, base.astype(dtype), svs.DistanceType.MIP, num_threads=1)

    def configure(self, ef):
        self.index.search_window_size = ef

    def search_many(self, queries, k):
        return self.index.search(queries.astype(self.dtype), k)[0]

    def n_bytes(self):
        return saved_bytes(lambda path: self.index.save(path + "1", path + "2", path + "3"))


class Scann(Library):
    """Codes of four bits for two components, scored by tables, in some `leaves` of a tree or without a tree.

    `reorder` candidates are scored again by the f32 rows."""

    def __init__(self, base, has_tree):
        from scann import scann_ops_pybind

        builder = scann_ops_pybind.builder(base, K, "dot_product").set_n_training_threads(1)
        if has_tree:
            builder = builder.tree(num_leaves=round(4 * len(base) ** 0.5), num_leaves_to_search=1)
        builder = builder.score_ah(2, anisotropic_quantization_threshold=0.2).reorder(100)
        self.index = builder.build()
        self.index.set_num_threads(1)

    def configure(self, reorder, leaves=-1):
        self.reorder, self.leaves = reorder, leaves

    def search_many(self, queries, k):
        leaves = self.leaves if self.leaves > 0 else None
        return self.index.search_batched(queries, k, self.reorder, leaves)[0]

    def search_one(self, query, k):
        return self.index.search(query[0], k, self.reorder, self.leaves)[0][None]

    def n_bytes(self):
        return saved_bytes(lambda path: (os.mkdir(path), self.index.serialize(path)))


class Turbovec(Library):
    def __init__(self, base, bits):
        from turbovec import TurboQuantIndex

        self.index = TurboQuantIndex(dim=base.shape[1], bit_width=bits)
        sample = np.random.default_rng(1).choice(len(base), min(len(base), 1024), replace=False)
        self.index.calibrate(base[sample])
        self.index.add(base)
        self.index.prepare()
        self.wanted = None

    def restrict(self, wanted):
        self.wanted = wanted

    def search_many(self, queries, k):
        return self.index.search(queries, k, mask=self.wanted)[1]

    def n_bytes(self):
        return len(self.index.to_bytes())


class Refined(Library):
    """Candidates of another library, scored again by the f32 rows in numpy."""

    def __init__(self, base, library, **options):
        self.base, self.library = base, library(base, **options)
        self.n_bytes = self.library.n_bytes

    def configure(self, candidates, **settings):
        self.candidates = candidates
        if "ef" in settings:
            settings["ef"] = max(settings["ef"], candidates)
        self.library.configure(**settings)

    def restrict(self, wanted):
        self.library.restrict(wanted)

    def search_many(self, queries, k):
        return np.concatenate([self.search_one(queries[i : i + 64], k) for i in range(0, len(queries), 64)])

    def search_one(self, queries, k):
        ids = self.library.search_many(queries, max(self.candidates, k)).astype(np.int64)
        if self.candidates <= k:
            return ids
        scores = (self.base[ids] @ queries[:, :, None])[:, :, 0]
        return np.take_along_axis(ids, np.argpartition(-scores, k - 1)[:, :k], axis=1)
