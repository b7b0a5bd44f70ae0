"""Names, texts and records of kernels: strings and bytes, without arrays and devices."""
