"""All matrix builders of `cuaug._matrices.builders`, also those in its dicts."""

from cuaug._matrices import builders

BUILDERS = [
    builder
    for entry in vars(builders).values()
    for builder in (entry.values() if isinstance(entry, dict) else [entry])
    if isinstance(builder, builders.Builder)
]
