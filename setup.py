"""What pyproject.toml cannot say: the programs that prove the rules are installed as one archive.

As files they would be byte-compiled by every installer, and `devlint.fixtures.DEV101.bug` could be imported.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROGRAMS = Path("fixtures")


class BuildWithPrograms(build_py):
    """Builds the modules, and `devlint/fixtures.zip` from the programs."""

    def run(self) -> None:
        """Build; an editable installation reads the programs where they are."""
        super().run()
        if not self.editable_mode:
            # Not compressed: the wheel is, and does it better with the programs in one piece.
            with zipfile.ZipFile(self._archive(), "w") as archive:
                for path in _programs():
                    entry = zipfile.ZipInfo(
                        path.relative_to(PROGRAMS).as_posix()
                    )  # dated 1980, as every time
                    entry.external_attr = 0o644 << 16
                    archive.writestr(entry, path.read_bytes())

    def get_source_files(self) -> list[str]:
        """Return what an sdist must hold."""
        return [*super().get_source_files(), *map(str, _programs())]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return what is built."""
        outputs = super().get_outputs(include_bytecode)
        return outputs if self.editable_mode else [*outputs, self._archive()]

    def _archive(self) -> str:
        return str(Path(self.build_lib, "devlint", "fixtures.zip"))


def _programs() -> list[Path]:
    return sorted(PROGRAMS.rglob("*.py"))


setup(cmdclass={"build_py": BuildWithPrograms})
