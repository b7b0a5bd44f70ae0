"""Names, texts and records of kernels: text and bytes; no array, no device."""
