"""The language server: one file per feature; the only code that knows LSP types."""
