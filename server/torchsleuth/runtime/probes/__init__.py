"""Probes: questions that a run of the user's unchanged script answers, in the script's process.

A probe changes what the script does, within its own process only: which batches it gets, which learning rates its optimizer
has, when it ends. Each sends one event, ``probe``, with what it has measured; what that means is said in `torchsleuth.probing`.
"""
