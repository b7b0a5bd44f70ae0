"""The table of recipes."""

from tables.color_recipes import COLOR_RECIPES
from tables.geometric_recipes import GEOMETRIC_RECIPES
from tables.transforms import ROWS

ALONE = [row.recipe() for row in ROWS if row.alone is not None]
RECIPES = [*GEOMETRIC_RECIPES, *COLOR_RECIPES, *ALONE]
BY_NAME = {recipe.name: recipe for recipe in RECIPES}
