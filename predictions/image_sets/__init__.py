"""Make image sets like ImageCoDe's: ten similar images, from photos or videos. Pure."""
