"""Base of makers and filters: their options in a pipeline file are the fields of their class. Pure."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$(?!\n)", description="Write three capital letters, such as USD.")]


class Options(BaseModel):
    """Checked options; unknown names and values of another type are refused."""

    # Python's expressions: those of Rust have no look-ahead, which JSON Schema needs for the end of a line.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, regex_engine="python-re")
