"""The operators of the installed torch as one pure, memoised function. The only analysis code that imports torch."""
