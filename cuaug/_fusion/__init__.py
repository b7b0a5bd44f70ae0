"""From a list of transforms to kernels: recipe (what is asked for), passes (who does it), program (the draws)."""
