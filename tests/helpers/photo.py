"""A small photograph and its JPEG file."""

from helpers.jpeg import encoded, photographs

PHOTO = photographs()[0][:60, 100:180]
JPEG_FILE = encoded(PHOTO)
