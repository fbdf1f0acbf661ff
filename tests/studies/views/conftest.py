from tests.cast import draft, researcher, study

__all__ = ["draft", "researcher", "study"]
