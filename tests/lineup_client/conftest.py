from tests.cast import client, draft, researcher, study

__all__ = ["client", "draft", "researcher", "study"]
