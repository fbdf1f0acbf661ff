"""Working time, answer times and pay."""
