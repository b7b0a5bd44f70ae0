"""Encoded images: JPEG on the CPU, nvJPEG on the GPU, other formats through Pillow."""
