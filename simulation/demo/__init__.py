"""The demo's own data: scenes that are described, drawn and written down as a manifest. Pure, without Django."""
