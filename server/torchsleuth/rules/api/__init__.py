"""Rules about what a library offers and how it is called (TS8xx)."""
