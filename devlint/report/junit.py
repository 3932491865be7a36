"""The `junit` format: an XML test report with one suite a file, which most CI servers show."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..console import printable
from ..old.fingerprint import relative
from .place import explanations, headline, in_file, line

if TYPE_CHECKING:
    from . import Outcome

_NO_XML = re.compile("[^\t\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(outcome: Outcome) -> str:
    """Return an XML document; without findings it has one test, which passes."""
    total = len(outcome.findings)
    root = Element("testsuites", name="devlint", tests=str(max(total, 1)), failures=str(total), errors="0")
    for path, group in groupby(outcome.findings, key=lambda finding: finding.path):
        found = list(group)
        number = str(len(found))
        name = _text(relative(path, outcome.base))
        suite = SubElement(
            root, "testsuite", name=name, tests=number, failures=number, errors="0", skipped="0"
        )
        for finding in found:
            case = SubElement(suite, "testcase", name=finding.code, classname=name, file=name)
            case.set("line", str(in_file(finding).start.row))
            failure = SubElement(
                case, "failure", type=finding.severity.value, message=_text(headline(finding))
            )
            said = (line(finding), finding.reason, *explanations(finding))
            failure.text = "\n".join(_text(part) for part in said if part)
    if not total:
        suite = SubElement(
            root, "testsuite", name="devlint", tests="1", failures="0", errors="0", skipped="0"
        )
        SubElement(suite, "testcase", name="no findings", classname="devlint")
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _text(text: str) -> str:
    """Return the text as one line, with what XML cannot hold replaced."""
    return _NO_XML.sub("\ufffd", printable(text))
