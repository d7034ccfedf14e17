"""``python -m torchsleuth.lsp``: the language server."""

from torchsleuth.lsp.server import main

main()
