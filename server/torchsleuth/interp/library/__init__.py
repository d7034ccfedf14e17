"""Models of what the oracle cannot know: Python builtins, containers of modules, data, optimizers, externals."""
