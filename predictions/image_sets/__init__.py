"""Makes image sets as ImageCoDe's are: ten pictures that are hard to tell apart, from photos or from videos. Pure."""
