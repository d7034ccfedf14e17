"""The language server: thin features over one session. The only code that imports pygls and lsprotocol."""
