# For manylinux_2_28 without a container: GCC compiles, and Zig's linker links against glibc 2.28, whose symbols it has
# for every architecture. Zig's Clang does not compile: it leaves loops unvectorized that GCC vectorizes (a warp of uint8
# takes 3 to 5 times as long). libstdc++ is linked statically; unused sections are dropped because some of them call
# functions of newer versions of glibc. CUAUG_ARCH: x86_64 or aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $ENV{CUAUG_ARCH})
set(CMAKE_C_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-g++)
find_program(ZIG NAMES python-zig REQUIRED)
foreach(library libstdc++.a libgcc_s.so.1 libgcc.a)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE file
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND gcc_libraries ${file})
endforeach()
list(JOIN gcc_libraries " " gcc_libraries)
set(CMAKE_CXX_CREATE_SHARED_MODULE
  "${ZIG} c++ -target ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu.2.28 -shared <LINK_FLAGS> -o <TARGET> <OBJECTS> \
${CMAKE_CURRENT_LIST_DIR}/glibc.c <LINK_LIBRARIES> -nostdlib++ ${gcc_libraries} -Wl,--gc-sections")
