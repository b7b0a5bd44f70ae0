"""Replaces a function of cuaug in every module that imported it by name."""

import sys


def replace_everywhere(monkeypatch, module, name, value):
    original = getattr(module, name)
    for path, imported in list(sys.modules.items()):
        if path.partition(".")[0] == "cuaug":
            for attribute, current in list(vars(imported).items()):
                if current is original:
                    monkeypatch.setattr(imported, attribute, value)
    assert getattr(module, name) is value
