"""The report of a run for its reader: the page with verdict, check-list and plots, and the formats other tools read."""
