"""The language server: one file per feature, all of them thin; the only code that imports pygls and lsprotocol."""
