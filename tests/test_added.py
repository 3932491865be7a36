"""What a file adds to where its imports start is read from its text, where that alone tells it."""

from __future__ import annotations

import pytest

from devlint.project.added import added

PATH = "/home/x/scripts/run.py"


@pytest.mark.parametrize(
    ("written", "folders"),
    [
        ("sys.path.insert(0, '..')", ("..",)),
        ("sys.path.append('./lib/')", ("lib",)),
        ("sys.path.append(os.getcwd())", (".",)),
        ("sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))", ("/home/x/scripts",)),
        ("sys.path.append(osp.dirname(osp.dirname(osp.realpath(__file__))))", ("/home/x",)),
        ("sys.path.append(os.path.join(os.path.dirname(__file__), os.pardir, 'src'))", ("/home/x/src",)),
        ("sys.path.insert(0, str(Path(__file__).parent.parent))", ("/home/x",)),
        ("sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'src'))", ("/home/x/src",)),
        ("sys.path.insert(0, Path(__file__).parent.joinpath('lib').as_posix())", ("/home/x/scripts/lib",)),
        ("sys.path.insert(0, os.path.join(sys.path[0], '..'))", ("/home/x",)),
        ("ROOT = Path(__file__).parent\nsys.path.extend([str(ROOT), str(ROOT / 'lib')])",
         ("/home/x/scripts", "/home/x/scripts/lib")),
        ("sys.path += [os.path.dirname(__file__)]", ("/home/x/scripts",)),
        ("def f():\n    sys.path.append('/opt/code')", ("/opt/code",)),
        ("sys.path.append(args.folder)", ()),
        ("sys.path.append(os.path.join(root, 'src'))", ()),
        ("root = root\nsys.path.append(root)", ()),
        ("sys.path.append(f'{root}/src')", ()),
        ("print(sys.path)\nsys.path.sort()\nsys.path.append()", ()),
        ("other.path.append('lib')", ()),
        ("sys.path.append('lib'", ()),
    ],
)  # fmt: skip
def test_folders_are_read_from_the_text(written: str, folders: tuple[str, ...]) -> None:
    assert added(written, PATH) == folders


def test_nothing_is_said_of_the_file(recwarn: pytest.WarningsRecorder) -> None:
    assert added("sys.path.append('..')\npattern = '\\d'", PATH) == ("..",)
    assert not recwarn.list
