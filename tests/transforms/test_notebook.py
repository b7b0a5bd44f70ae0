"""Recipes and plans as tables of a notebook."""

from xml.etree import ElementTree as ET

import torch  # with torch imported, transforms are torch modules

from cuaug import transforms as T


def cells(html):
    """The texts of a table's rows; lines of a cell are joined by a space."""
    return [
        [" ".join(cell.itertext()) for cell in row] for row in ET.fromstring(html.replace("<br>", "<br/>")).iter("tr")
    ]


def test_compose_plan_is_a_table_in_a_notebook():
    plan = T.Compose([T.RandomHorizontalFlip(), T.GaussianBlur(3), T.ColorJitter(0.2)]).plan(size=(20, 30))
    header, *rows = cells(plan._repr_html_())
    assert header == ["pass", "reads", "writes", "does", "begins because"]
    assert [row[0] for row in rows] == [str(number) for number in range(1, len(plan.passes) + 1)]
    for row, pass_ in zip(rows, plan.passes, strict=True):
        assert row[1] == row[2] == "uint8 [20, 30, 3]"
        assert row[3:] == [" ".join(pass_.lines), pass_.why]
    assert str(plan).splitlines()[0] in plan._repr_html_()


def test_compose_is_a_table_in_a_notebook_and_is_escaped():
    recipe = T.Compose([T.PixelOp("Threshold", "select(px < t, 0, 1)", t=(0.2, 0.8)), T.RandomInvert()], seed=3)
    assert isinstance(recipe, torch.nn.Module)
    html = recipe._repr_html_()
    assert "px &lt; t" in html
    assert cells(html) == [["", "transform"], ["1", repr(recipe.transforms[0])], ["2", "RandomInvert(p=0.5)"]]
    assert "Compose, seed 3" in html
