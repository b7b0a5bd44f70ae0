"""The table of recipes."""

from cuaug import transforms as T
from tables.color_recipes import COLOR_RECIPES
from tables.geometric_recipes import GEOMETRIC_RECIPES
from tables.transforms import ROWS

ALONE = [row.recipe() for row in ROWS if row.alone is not None]
RECIPES = [*GEOMETRIC_RECIPES, *COLOR_RECIPES, *ALONE]
BY_NAME = {recipe.name: recipe for recipe in RECIPES}
# Policies, mixes, and recipes of several level ops, of which RECIPES has no rows.
OTHER_TRANSFORMS = {
    "trivialaugment": [T.TrivialAugmentWide()],
    "randaugment": [T.RandomResizedCrop(48), T.RandAugment(), T.ToDtype("float16", scale=True)],
    "autoaugment": [T.AutoAugment(), T.Normalize(0.5, 0.2)],
    "augmix": [T.AugMix(mixture_width=2, chain_depth=2), T.ToDtype("float32", scale=True)],
    "levels": [T.RandomAutocontrast(), T.RandomEqualize(), T.RandomAdjustSharpness(2.0), T.Grayscale(1)],
    "mixes": [T.MixUp(num_classes=3), T.CutMix(num_classes=3), T.GaussianBlur(5)],
}
