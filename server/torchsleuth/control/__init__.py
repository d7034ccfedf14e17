"""The user's choice of what to see: configuration, selection of codes, suppression comments, baselines. No torch, no LSP."""
