"""Names that are imported when they are first used, so that listing what there is loads none of it."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class LazyFunction:
    """A function, by its path ``module:function``, that is imported when it is first called.

    Its docstring and options are read from its source.

    Example:
        >>> katz = LazyFunction("gelato.methods.heuristics.neighborhood:katz")
        >>> katz.options
        ['beta', 'steps', 'dtype']
    """

    path: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        module, _, name = self.path.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self.function(*args, **options)

    @property
    def doc(self) -> str:
        """Its docstring."""
        return ast.get_docstring(self._definition) or ""

    @property
    def options(self) -> list[str]:
        """Names of its keyword-only arguments."""
        return [argument.arg for argument in self._definition.args.kwonlyargs]

    @cached_property
    def _definition(self) -> ast.FunctionDef:
        module, _, name = self.path.partition(":")
        top, *inner = module.split(".")
        spec = find_spec(top)  # not of the module itself, which would import the packages that it is in
        assert spec is not None and spec.submodule_search_locations is not None, f"{top} is no package"
        file = Path(spec.submodule_search_locations[0]).joinpath(*inner).with_suffix(".py")
        parts = ast.parse(file.read_text(encoding="utf-8")).body
        return next(part for part in parts if isinstance(part, ast.FunctionDef) and part.name == name)


class LazyModule:
    """A module, by its name, that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(import_module(self._name), name)  # found at once from now on
        return value


def public_names(
    package: str, file: str, former: Mapping[str, str] | None = None, further: Callable[[], Mapping[str, str]] = dict
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names, ``__all__`` too, are known when they are first used.

    Its imports ``from module import name as name``, under ``TYPE_CHECKING``, say where each name comes from. They
    are written once, for type checkers, and read here from the source. ``former`` are deprecated names, which are not
    listed, and the modules below the package that still hold them; ``further`` ones a table knows, and their modules.
    """
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: str(node.module) for node in imports for alias in node.names if alias.asname == alias.name}
    unlisted = {name: f"{package}.{module}" for name, module in (former or {}).items()}

    def load(name: str) -> Any:
        if name == "__all__":
            return sorted({*homes, *further()})
        home = homes.get(name) or unlisted.get(name) or (None if name.startswith("_") else further().get(name))
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == package:  # a module of the package itself
            return import_module(f"{package}.{name}")
        try:
            value = getattr(import_module(home), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            from gelato.errors import MissingDependency

            raise MissingDependency(name, "torch", "train") from None
        vars(import_module(package))[name] = value
        return value

    return load, lambda: sorted({*vars(import_module(package)), *homes, *further()})
