"""Adds the makers and filters of the tests to those that the worker under test knows (`--include`)."""

from making.filters import FILTERS
from making.makers import MAKERS

MAKERS["paint"] = "tests.making.painter.Paint"
FILTERS["critic"] = "tests.making.critic.Critic"
FILTERS["looker"] = "tests.making.critic.Looker"
