"""Runtime errors: which code a message belongs to, what it means, and the edits that the run's numbers suggest.

A pattern only routes. Every number in a message or an edit comes from the frames of the crash, because the wording of
PyTorch's errors drifts between versions.
"""
