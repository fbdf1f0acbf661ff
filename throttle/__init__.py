"""Rate limits: counts shared by all processes and machines of a site, and the keys that they count by."""
