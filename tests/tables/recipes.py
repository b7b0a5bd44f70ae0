"""The table of recipes."""

from tables.color_recipes import COLOR_RECIPES
from tables.geometric_recipes import GEOMETRIC_RECIPES

RECIPES = [*GEOMETRIC_RECIPES, *COLOR_RECIPES]
BY_NAME = {recipe.name: recipe for recipe in RECIPES}
