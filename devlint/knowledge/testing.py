"""Test frameworks: skips, marks, fixtures, expected failures, mocks."""

from __future__ import annotations

from .row import Row
from .table import Table, words

_SKIP = Row("flag", topics=frozenset({"skips"}), by="testing.skip")

TABLES = (
    Table(
        "",
        _SKIP,
        """
    pytest.mark.skipif(condition, *, reason)
    pytest.mark.skip(reason)
    pytest.mark.xfail(condition, *, reason, raises, run, strict): topics=!expects-failure
    unittest.skipIf(condition, reason)
    unittest.skipUnless(condition, reason): topics=skips-unless
    unittest.skip(reason)
    unittest.expectedFailure(test_item): gives=first topics=!expects-failure by=
    """,
    ),
    Table(
        "pytest.",
        Row("unknown"),
        """
    mark.parametrize(argnames, argvalues, indirect, ids, scope): topics=parametrizes
    mark.usefixtures(*names): topics=marks
    mark.*(*args): topics=marks
    param(*values, marks, id): gives=container topics=parametrizes
    fixture(fixture_function, *, scope, params, autouse, ids, name): topics=fixture
    skip(reason, *, allow_module_level): gives=None topics=exits,skips by=testing.exits
    xfail(reason): gives=None topics=exits by=testing.exits
    fail(reason, pytrace): gives=None topics=exits by=testing.exits
    exit(reason, returncode): gives=None topics=exits by=testing.exits
    importorskip(modname, minversion, reason, *, exc_type): by=imports.load topics=exits-without
    raises(expected_exception, *, match, check): gives=other topics=expects-failure
    warns(expected_warning, *, match): gives=other
    deprecated_call(*, match): gives=other
    approx(expected, rel, abs, nan_ok): gives=other
    """,
    ),
    Table(
        "",
        Row("other", topics=frozenset({"records"}), by="objects.record"),
        """
    unittest.mock.Mock unittest.mock.MagicMock unittest.mock.AsyncMock
    unittest.mock.NonCallableMock(spec, side_effect, return_value, wraps, name)
    unittest.mock.PropertyMock unittest.mock.call unittest.mock.sentinel(*args)
    mock.Mock mock.MagicMock(spec, side_effect, return_value, wraps, name)
    unittest.mock.patch unittest.mock.patch.object unittest.mock.patch.dict(target, attribute, new)
    """,
    ),
    Table(
        "TestCase.",
        Row("None"),
        """
    assertRaises(expected_exception, *args): gives=other topics=expects-failure
    assertRaisesRegex(expected_exception, expected_regex, *args): gives=other topics=expects-failure
    assertWarns(expected_warning, *args): gives=other
    skipTest(reason): topics=exits,skips by=testing.exits
    fail(msg): topics=exits by=testing.exits
    subTest(msg): gives=other
    assertEqual assertNotEqual assertIs assertIsNot(first, second, msg): topics=asserts
    assertTrue assertFalse(expr, msg): topics=asserts
    assertIn(member, container, msg): topics=asserts
    assertAlmostEqual(first, second, places, msg, delta): topics=asserts
    """,
    ),
    Table(
        "torch.testing.",
        Row("None", topics=frozenset({"asserts"})),
        """
    assert_close(actual, expected, *, allow_subclasses, atol, check_device, check_dtype, check_layout,
            check_stride, equal_nan, msg, rtol)
    assert_allclose(actual, expected, rtol, atol, equal_nan, msg)
    make_tensor(*shape, dtype, device, exclude_zero, high, low, memory_format, noncontiguous,
            requires_grad): gives=tensor place=device devices=device topics=
    """,
    ),
)

CONSTRUCTORS = words("__init__ setUpClass setUp setup_class setup_method setup asyncSetUp")
"""Methods that run before the others: what they leave behind, or skip, holds in those."""
