"""The ways in: how a call from outside finds its rule, its shadows and its tangents."""
