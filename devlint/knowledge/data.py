"""Loaders, datasets and samplers: `torch.utils.data`, and what other libraries have like it."""

from __future__ import annotations

from .row import Row
from .table import Table

_OTHER = frozenset({"other-library"})

TABLES = (
    Table(
        "",
        Row("loader", "cpu", topics=frozenset({"loader"}), by="loaders.loader"),
        """
    torch.utils.data.DataLoader(dataset, batch_size, shuffle, sampler, batch_sampler, num_workers,
            collate_fn, pin_memory, drop_last, timeout, worker_init_fn, multiprocessing_context,
            generator, *, in_order, persistent_workers, pin_memory_device, prefetch_factor)
    monai.data.DataLoader(dataset, num_workers, **kwargs): topics=other-library
    """,
    ),
    Table(
        "torch.utils.data.",
        Row("container", by="loaders.subset"),
        """
    Subset(dataset, indices)
    ConcatDataset ChainDataset(datasets)
    StackDataset(*args)
    random_split(dataset, lengths, generator): by=loaders.split
    TensorDataset(*tensors): by=loaders.tensors
    Dataset IterableDataset(): gives=other by=
    """,
    ),
    Table(
        "torch.utils.data.",
        Row("other"),
        """
    BatchSampler(sampler, batch_size, drop_last)
    DistributedSampler(dataset, num_replicas, rank, shuffle, seed, drop_last)
    RandomSampler(data_source, replacement, num_samples, generator)
    SequentialSampler(data_source)
    SubsetRandomSampler(indices, generator)
    WeightedRandomSampler(weights, num_samples, replacement, generator)
    get_worker_info()
    default_collate(batch): gives=unknown place=unknown topics=collates
    default_convert(data): gives=unknown place=unknown
    """,
    ),
    Table(
        "",
        Row("loader", "cpu", topics=frozenset({"loader", "other-library"}), by="graphs.loader"),
        """
    torch_geometric.loader.* torch_geometric.data.DataLoader
    torch_geometric.dataloader.*(dataset, batch_size, shuffle, follow_batch, exclude_keys)
    torch_geometric.loader.NeighborSampler torch_geometric.loader.CachedLoader
    torch_geometric.loader.PrefetchLoader torch_geometric.loader.ClusterData
    torch_geometric.loader.DynamicBatchSampler torch_geometric.loader.ImbalancedSampler
    torch_geometric.data.DataListLoader torch_geometric.loader.DataListLoader(*args): gives=unknown place= by=
    torch_geometric.datasets.*(root, name, split, *, transform, pre_transform): gives=container
            by=graphs.dataset
    torch_geometric.transforms.*(*args): gives=other place= by=graphs.transform
    torch_geometric.transforms.Compose(transforms): gives=other place= by=graphs.transform
    torch_geometric.transforms.ToDevice(device, attrs, non_blocking): gives=other place= by=graphs.transform
    """,
    ),
    # DGL's graphs are moved as tensors are, by copies, and take no features from elsewhere: `DGLGraph.to` and
    # `_set_n_repr` in dgl/heterograph.py of 2.1.
    Table(
        "dgl.",
        Row("tensor", "device", devices=("device",), topics=_OTHER, by="graphs.of_edges"),
        """
    graph(data, *, num_nodes, idtype, device, row_sorted, col_sorted)
    heterograph(data_dict, num_nodes_dict, idtype, device)
    from_scipy(sp_mat, eweight_name, idtype, device)
    from_networkx(nx_graph, node_attrs, edge_attrs, edge_id_attr_name, idtype, device)
    rand_graph(num_nodes, num_edges, idtype, device)
    """,
    ),
    Table(
        "dgl.",
        Row("tensor", "first", topics=_OTHER),
        """
    batch(graphs, ndata, edata)
    add_self_loop remove_self_loop add_reverse_edges to_bidirected to_simple to_homogeneous to_heterogeneous
    add_nodes add_edges remove_nodes remove_edges reverse line_graph node_subgraph edge_subgraph in_subgraph
    out_subgraph transforms.add_self_loop transforms.remove_self_loop transforms.add_reverse_edges
    transforms.to_bidirected transforms.to_simple(g, *args)
    """,
    ),
    Table(
        "dgl.data.",
        Row("container", topics=_OTHER, by="graphs.collection"),
        """
    *Dataset(*args)
    """,
    ),
)
