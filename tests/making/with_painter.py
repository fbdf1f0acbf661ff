"""Adds the maker of the tests to those that the worker under test knows (`--include`)."""

from making.makers import MAKERS

MAKERS["paint"] = "tests.making.painter.Paint"
