"""How many dimensions the results of operations have, by the last part of their names.

An operation that no set names broadcasts: its result has as many dimensions as the operand that has most.
`tests/test_ranks.py` compares all of this with what torch does with the samples of its own operator tests.
"""

from __future__ import annotations

from .table import words

GIVES_DIMENSIONS = words(
    """
    argwhere atleast_1d atleast_2d atleast_3d bincount broadcast_to cartesian_prod diagflat embedding expand
    expand_copy flatten histc masked_select nonzero nonzero_static ravel repeat repeat_interleave reshape
    tile unfold_copy unique unique_consecutive unsqueeze unsqueeze_ unsqueeze_copy vander view
    view_copy
    """
)
"""After these a tensor has dimensions, even one that was 0-dim and so far met any device."""
GIVES_TWO = words("argwhere atleast_2d atleast_3d nonzero")
"""Those of them that give two dimensions, at least."""
LOSES_TOLD = words("squeeze squeeze_ squeeze_copy")
"""Those of `MAY_LOSE_ALL` that lose the one dimension that they are told, if any."""
TELLS_DIMENSIONS = words("broadcast_to expand expand_copy repeat reshape tile view view_copy")
"""Those that are told sizes, of which each is a dimension."""
ADDS_DIMENSION = words("stack pad_sequence unsqueeze unsqueeze_ unsqueeze_copy one_hot outer diag_embed")
"""The result has one dimension more than the operands."""
LOSES_DIMENSION = words(
    """
    addbmm addmv bmm cosine_similarity diagonal diagonal_copy dot eig eigh eigvals eigvalsh geqrf inner
    matmul mm mv pairwise_distance pca_lowrank pdist select solve svd svd_lowrank svdvals take_along_dim
    trapezoid trapz unbind unbind_copy unfold vecdot view_as_complex
    """
)
"""The result may have one dimension less than the operands."""
KEEPS_ONE = words("diag")
"""The result may have one dimension less than the operand, but has one."""
MAY_LOSE_ALL = words(
    """
    cholesky_ex cond corrcoef cov det einsum hash_tensor inv_ex item ldl_factor_ex
    logdet lstsq lu lu_factor_ex matrix_norm matrix_rank slogdet solve_ex squeeze squeeze_ squeeze_copy
    tensordot tensorsolve
    """
)
"""The result, or one of several, may be 0-dim whatever the operands are."""
OF_FIRST = words(
    """
    addmm bilinear bucketize conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d gather
    index_add index_copy index_fill index_put index_reduce index_select linear prelu put scatter scatter_add
    scatter_reduce
    """
)
"""The result has the dimensions of the first operand."""
OF_SECOND = words("expand_as reshape_as searchsorted take view_as")
"""The result has the dimensions of the second operand."""
EXPANDS = words("expand_as")
"""Of these, what gets more dimensions, and keeps its own."""
REDUCES = words(
    """
    aminmax frobenius_norm kthvalue logsumexp mode nanquantile nuclear_norm quantile std_mean var_mean
    """
)
"""Operations that reduce the dimensions they are told, beside those whose rows say so."""
REDUCES_ONE = words("kthvalue mode")
"""Those that reduce one dimension where they are told none, rather than all."""
GRIDS = words("meshgrid")
"""The results have a dimension for each argument."""
GIVES_INDICES_TOO = words("max min median nanmedian")
"""Reductions that give two tensors where they are told a dimension."""


def implied(dimension: object) -> int:
    """How many dimensions a tensor has at least that has one of a number.

    One that has none takes 0 and -1 all the same: `wrap_scalar` of torch's `c10/core/WrapDimMinimal.h`.
    """
    if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension in (0, -1):
        return 0
    return dimension + 1 if dimension > 0 else -dimension
