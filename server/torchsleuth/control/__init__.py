"""What the user wants to see: configuration, selection of codes, suppression comments, baselines. No torch, no LSP."""
