"""The named ways of fitting that the models declare, for tests that go through all of them."""

from __future__ import annotations

from dpcore.declaration import Method, declaration, declarations

# Every named way of fitting, with the first model that has it.
MODELS_OF_METHODS = {
    name: model
    for model, declared in reversed(declarations().items())
    for name in ("recommended", *declared.methods)
}


def method(name: str) -> Method:
    """A named way of fitting, of the first model that has it."""
    return declaration(MODELS_OF_METHODS[name]).method(name)
