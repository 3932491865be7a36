"""Namespaces of tensor functions: `torch.linalg`, `fft`, `special`, `sparse`, `distributions`."""

from __future__ import annotations

from .row import Row
from .table import Table

TABLES = (
    Table(
        "torch.linalg.",
        Row("tensor", "operands"),
        """
    cholesky(input, *, out, upper)
    cond(input, p, *, out)
    cross(input, other, *, dim, out)
    det inv(A, *, out)
    diagonal(A, *, dim1, dim2, offset)
    eigvals matrix_exp(input, *, out)
    eigvalsh(input, UPLO, *, out)
    householder_product(input, tau, *, out)
    ldl_solve(LD, pivots, B, *, hermitian, out)
    lu_solve(LU, pivots, B, *, adjoint, left, out)
    matmul(input, other, *, out)
    matrix_norm(input, ord, dim, keepdim, *, dtype, out)
    matrix_power(input, n, *, out)
    matrix_rank(input, tol, hermitian, *, atol, out, rtol)
    pinv(input, rcond, hermitian, *, atol, out, rtol)
    solve(A, B, *, left, out)
    solve_triangular(input, B, *, left, out, unitriangular, upper)
    svdvals(A, *, driver, out)
    tensorinv(input, ind, *, out)
    tensorsolve(input, other, dims, *, out)
    vander(x, *, N)
    vecdot(x, y, *, dim, out)
    """,
    ),
    Table(
        "torch.linalg.",
        Row("tensor", "operands", topics=frozenset({"several"})),
        """
    cholesky_ex(input, *, check_errors, out, upper)
    eig(input, *, out)
    eigh(input, UPLO, *, out)
    inv_ex(A, *, check_errors, out)
    ldl_factor(input, *, hermitian, out)
    ldl_factor_ex(input, *, check_errors, hermitian, out)
    lstsq(input, b, rcond, *, driver, out)
    lu lu_factor(A, *, out, pivot)
    lu_factor_ex(A, *, check_errors, out, pivot)
    qr(A, mode, *, out)
    slogdet(A, *, out)
    solve_ex(A, B, *, check_errors, left, out)
    svd(A, full_matrices, *, driver, out)
    """,
    ),
    Table(
        "torch.linalg.",
        Row("reduced", "operands"),
        """
    norm vector_norm(input, ord, dim, keepdim, *, dtype, out)
    """,
    ),
    Table(
        "torch.linalg.",
        Row("tensor", "operands", by="operations.sequence"),
        """
    multi_dot(tensors, *, out)
    """,
    ),
    Table(
        "torch.fft.",
        Row("tensor", "operands"),
        """
    fft hfft ifft ihfft irfft rfft(input, n, dim, norm, *, out)
    fft2 fftn hfft2 hfftn ifft2 ifftn ihfft2 ihfftn irfft2 irfftn rfft2 rfftn(input, s, dim, norm, *, out)
    fftshift ifftshift(input, dim)
    """,
    ),
    Table(
        "torch.fft.",
        Row("tensor", "device", devices=("device",), by="factories.factory"),
        """
    fftfreq rfftfreq(n, d, *, device, dtype, layout, out, pin_memory, requires_grad)
    """,
    ),
    Table(
        "torch.special.",
        Row("tensor", "operands"),
        """
    airy_ai scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0(x, *, out)
    bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammaln
    i0 i0e i1 i1e log1p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0
    modified_bessel_k1 ndtr ndtri psi sinc(input, *, out)
    chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p
    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w(x, n, *, out)
    gammainc gammaincc xlog1py xlogy zeta(input, other, *, out)
    log_softmax(input, dim, *, dtype)
    logit(input, eps, *, out)
    logsumexp(input, dim, keepdim, *, out)
    multigammaln(input, p, *, out)
    polygamma(n, input, *, out)
    round(input, *, decimals, out)
    softmax(input, dim, dtype)
    """,
    ),
    Table(
        "torch.sparse.",
        Row("tensor", "operands"),
        """
    addmm sampled_addmm(input, mat1, mat2, *, alpha, beta, out)
    log_softmax softmax(input, dim, dtype, *, half_to_float)
    mm(sparse, dense, reduce)
    spdiags(diagonals, offsets, shape, layout, *, out)
    spsolve(A, B, *, left)
    sum(input, dim, dtype)
    """,
    ),
    Table(
        "torch.distributions.",
        Row("batch", by="distributions.make"),
        """
    Normal LogNormal Laplace Cauchy Gumbel(loc, scale, validate_args)
    MultivariateNormal(loc, covariance_matrix, precision_matrix, scale_tril, validate_args)
    Uniform(low, high, validate_args)
    Bernoulli Geometric Categorical OneHotCategorical(probs, logits, validate_args)
    Beta(concentration1, concentration0, validate_args)
    Dirichlet(concentration, validate_args)
    Gamma(concentration, rate, validate_args)
    Exponential Poisson(rate, validate_args)
    kl_divergence(p, q): gives=tensor by=distributions.apart
    """,
    ),
)
