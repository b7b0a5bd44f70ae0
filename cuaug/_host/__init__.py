"""The host: the compiled extension, threads, the buffer pool, the machine's C++ compiler."""
