"""Names of a package that are loaded when they are asked for: `arrayfold --help` needs none of them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def load_on_demand(package: str, modules: Mapping[str, str]) -> None:
    """Let a package have the names of its modules, and load a module when one of its names is asked for.

    modules  names, separated by spaces, by the module that defines them
    """
    homes = {name: f"{package}.{module}" for module, names in modules.items() for name in names.split()}

    class Package(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name not in homes:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            value = getattr(import_module(homes[name]), name)
            setattr(self, name, value)
            return value

        def __dir__(self) -> list[str]:
            return sorted(homes)

    for name, home in homes.items():
        if home.startswith(f"{package}.{name}."):
            setattr(Package, name, _hides_the_package(home, name))
    sys.modules[package].__class__ = Package


def _hides_the_package(home: str, name: str) -> property:
    """What a package of the same name defines, also once the import system has put that package here."""

    def found(_package: ModuleType) -> Any:
        return getattr(import_module(home), name)

    def ignored(_package: ModuleType, _value: Any) -> None:
        pass

    return property(found, ignored)
