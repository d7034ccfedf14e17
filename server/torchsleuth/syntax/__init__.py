"""Text, trees and positions: parsing that never fails, position conversion, edits. No torch, no LSP."""
