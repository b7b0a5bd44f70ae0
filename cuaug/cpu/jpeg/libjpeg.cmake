# Defines the target `libjpeg`, which the JPEG decoder links: libjpeg-turbo 2.1 or newer, because no other libjpeg
# decodes regions of images. The system's library is used if there is one; otherwise the pinned source is built here
# and linked statically. CUAUG_JPEG and CUAUG_LIBJPEG_SOURCE are settings of CMake, or environment variables with these
# names.
function(read_setting name default)
  if(NOT DEFINED ${name})
    if(DEFINED ENV{${name}})
      set(default $ENV{${name}})
    endif()
    set(${name} ${default} PARENT_SCOPE)
  endif()
endfunction()
# ON: the system's libjpeg-turbo, or else its source. SOURCE: always its source. OFF: no JPEG.
read_setting(CUAUG_JPEG ON)
# The URL of the release with the SHA-256 below, or a folder with the unpacked source of release 2.1 or newer.
read_setting(CUAUG_LIBJPEG_SOURCE
  https://github.com/libjpeg-turbo/libjpeg-turbo/releases/download/3.1.3/libjpeg-turbo-3.1.3.tar.gz)
set(libjpeg_sha256 075920b826834ac4ddf97661cc73491047855859affd671d52079c6867c1c6c0)

if(NOT CUAUG_JPEG MATCHES "^(ON|SOURCE|OFF)$")
  message(FATAL_ERROR "cuaug: CUAUG_JPEG is ON, SOURCE or OFF, not ${CUAUG_JPEG}")
elseif(CUAUG_JPEG STREQUAL "OFF")
  message(STATUS "cuaug: built without JPEG (CUAUG_JPEG=OFF)")
  return()
endif()

if(CUAUG_JPEG STREQUAL "ON")
  find_package(JPEG QUIET)
  if(JPEG_FOUND)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES JPEG::JPEG)
    check_cxx_source_compiles("
      #include <cstdio>
      #include <jpeglib.h>
      static_assert(LIBJPEG_TURBO_VERSION_NUMBER >= 2001000 && BITS_IN_JSAMPLE == 8);
      int main() { jpeg_crop_scanline(nullptr, nullptr, nullptr); }" CUAUG_LIBJPEG_TURBO)
    unset(CMAKE_REQUIRED_LIBRARIES)
  endif()
  if(CUAUG_LIBJPEG_TURBO)
    add_library(libjpeg INTERFACE)
    target_link_libraries(libjpeg INTERFACE JPEG::JPEG)
    return()
  endif()
  message(STATUS "cuaug: libjpeg-turbo 2.1 or newer was not found and is built from source")
endif()

string(CONCAT libjpeg_repair "Install libjpeg-turbo 2.1 or newer with its headers (Debian: apt install "
  "libjpeg62-turbo-dev; Ubuntu: apt install libjpeg-turbo8-dev; conda: libjpeg-turbo; macOS: brew install jpeg-turbo) "
  "and install cuaug again. Without a network, set CUAUG_LIBJPEG_SOURCE to a folder with the source of libjpeg-turbo. "
  "CUAUG_JPEG=OFF builds without JPEG.")

# Without the assembler, libjpeg-turbo would be built without SIMD, and decode several times slower.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  find_program(CUAUG_NASM NAMES nasm yasm)
  if(NOT CUAUG_NASM)
    message(FATAL_ERROR "cuaug: the source of libjpeg-turbo needs the assembler NASM "
      "(Debian and Ubuntu: apt install nasm). ${libjpeg_repair}")
  endif()
endif()

set(libjpeg_folder ${CMAKE_CURRENT_BINARY_DIR}/libjpeg)
if(IS_DIRECTORY "${CUAUG_LIBJPEG_SOURCE}")
  set(libjpeg_source ${CUAUG_LIBJPEG_SOURCE})
else()
  set(libjpeg_archive ${libjpeg_folder}/libjpeg-turbo.tar.gz)
  file(DOWNLOAD ${CUAUG_LIBJPEG_SOURCE} ${libjpeg_archive} TIMEOUT 120 INACTIVITY_TIMEOUT 20 STATUS libjpeg_status)
  list(GET libjpeg_status 0 libjpeg_code)
  if(NOT libjpeg_code EQUAL 0)
    list(GET libjpeg_status 1 libjpeg_error)
    message(FATAL_ERROR "cuaug: the source of libjpeg-turbo cannot be downloaded from ${CUAUG_LIBJPEG_SOURCE} "
      "(${libjpeg_error}). ${libjpeg_repair}")
  endif()
  file(SHA256 ${libjpeg_archive} libjpeg_actual)
  if(NOT libjpeg_actual STREQUAL libjpeg_sha256)
    message(FATAL_ERROR
      "cuaug: ${CUAUG_LIBJPEG_SOURCE} has SHA-256 ${libjpeg_actual}, not ${libjpeg_sha256}. ${libjpeg_repair}")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${libjpeg_archive} DESTINATION ${libjpeg_folder}/source)
  file(GLOB libjpeg_source ${libjpeg_folder}/source/libjpeg-turbo-*)
endif()

# A build of its own: libjpeg-turbo refuses to be a subproject (add_subdirectory).
include(ExternalProject)
set(libjpeg_archive_file ${libjpeg_folder}/install/lib/libjpeg.a)
foreach(setting CMAKE_TOOLCHAIN_FILE CMAKE_C_COMPILER)
  if(${setting})
    list(APPEND libjpeg_settings -D${setting}=${${setting}})
  endif()
endforeach()
ExternalProject_Add(libjpeg_turbo
  PREFIX ${libjpeg_folder}
  SOURCE_DIR ${libjpeg_source}
  DOWNLOAD_COMMAND ""
  CMAKE_ARGS ${libjpeg_settings} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${libjpeg_folder}/install
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_C_VISIBILITY_PRESET=hidden
    -DENABLE_SHARED=OFF -DREQUIRE_SIMD=ON -DWITH_TURBOJPEG=OFF -DWITH_TOOLS=OFF -DWITH_TESTS=OFF
  BUILD_BYPRODUCTS ${libjpeg_archive_file})
file(MAKE_DIRECTORY ${libjpeg_folder}/install/include)
add_library(libjpeg INTERFACE)
add_dependencies(libjpeg libjpeg_turbo)
target_include_directories(libjpeg SYSTEM INTERFACE ${libjpeg_folder}/install/include)
target_link_libraries(libjpeg INTERFACE ${libjpeg_archive_file})
# The licences of libjpeg-turbo require that they accompany the binary.
if(SKBUILD_METADATA_DIR)
  install(FILES ${libjpeg_source}/LICENSE.md ${libjpeg_source}/README.ijg
    DESTINATION ${SKBUILD_METADATA_DIR}/licenses/libjpeg-turbo)
endif()
