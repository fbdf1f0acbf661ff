"""How often somebody may do something: counts that every process and machine of a site shares, and who is counted."""
