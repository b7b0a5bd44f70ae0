"""Replaces a function of cuaug in every module that imported it by name."""

import sys


def replace_everywhere(monkeypatch, module, name, value):
    original = getattr(module, name)
    for imported in [imported for path, imported in sys.modules.items() if f"{path}.".startswith("cuaug.")]:
        for attribute in [attribute for attribute, current in vars(imported).items() if current is original]:
            monkeypatch.setattr(imported, attribute, value)
    assert getattr(module, name) is value
