"""The released packages that the benchmarks read, and what both count in a folder.

usage: python benchmarks/corpus.py DIR   downloads them with pip and unpacks their sources to DIR/NAME
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

RELEASES = {
    "flair": "0.15.1",
    "kornia": "0.9.0",
    "monai": "1.6.1",
    "pytorch-lightning": "2.6.6",
    "timm": "1.0.31",
    "torch-geometric": "2.8.1",
    "ultralytics": "8.4.190",
}
NOT_THE_PACKAGE = {"test", "tests"}
"""Top-level folders that some wheels install beside their package."""


def python_files(folder: Path) -> list[Path]:
    """Return every `.py` file below a folder, in a stable order."""
    return sorted(folder.rglob("*.py"))


def count_lines(folder: Path) -> int:
    """Return the number of lines of Python below a folder."""
    return sum(file.read_bytes().count(b"\n") for file in python_files(folder))


def download(into: Path) -> None:
    """Fetch each release as a wheel and keep the Python sources of its packages."""
    for name, version in RELEASES.items():
        with tempfile.TemporaryDirectory() as scratch:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*pip, "--dest", scratch, f"{name}=={version}"], check=True)
            (wheel,) = Path(scratch).glob("*.whl")
            target = into / name
            with zipfile.ZipFile(wheel) as archive:
                for member in archive.namelist():
                    if member.endswith(".py") and member.split("/")[0] not in NOT_THE_PACKAGE:
                        archive.extract(member, target)
        print(f"{target}: {len(python_files(target))} files, {count_lines(target)} lines")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    download(Path(sys.argv[1]))
