"""Array libraries: describe, allocate and move arrays. Only this package knows the types of torch, CuPy and JAX."""
