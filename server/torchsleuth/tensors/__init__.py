"""The abstract tensor and its domains: dimension algebra, dtype, device, grad. No torch, no LSP types."""
