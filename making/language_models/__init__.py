"""Language models that write candidates: on this machine, or behind an address. Pure."""
