// libstdc++ reads this variable of glibc 2.32, which glibc 2.28 does not have. 0: there may be several threads.
char __libc_single_threaded = 0;
