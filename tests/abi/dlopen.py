# SPDX-License-Identifier: Apache-2.0
"""The shared library as interpreters and plug-in hosts load it, by dlopen into a running process.

The loader keeps a little thread-local storage free for such libraries, shared by all of them, so the
library's TLS segment is bounded; then ctypes opens it and makes a pool of simulated devices.
usage: dlopen.py READELF LIBRARY
"""
import ctypes
import subprocess
import sys

MOST_TLS_BYTES = 88


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("driver_code", ctypes.c_int),
                ("driver_name", ctypes.c_char_p), ("call", ctypes.c_char_p),
                ("message", ctypes.c_char_p)]


def tls_bytes(readelf, library):
    listing = subprocess.run([readelf, "-lW", library], capture_output=True, text=True,
                             check=True).stdout
    segments = [line.split() for line in listing.splitlines() if line.split()[:1] == ["TLS"]]
    return sum(int(segment[5], 16) for segment in segments)


def main():
    readelf, library = sys.argv[1:]
    size = tls_bytes(readelf, library)
    print(f"TLS segment: {size} bytes")
    if size > MOST_TLS_BYTES:
        sys.exit(f"the TLS segment has {size} bytes, more than {MOST_TLS_BYTES}")
    lib = ctypes.CDLL(library)
    lib.pool_last_error.restype = ctypes.POINTER(Error)
    lib.pool_status_name.restype = ctypes.c_char_p
    error = lib.pool_last_error().contents
    assert (error.status, error.message) == (0, b""), error.message
    status = lib.pool_create(None, None)
    error = lib.pool_last_error().contents
    assert status == error.status != 0 and error.message, (status, error.message)
    print(f"ctypes: {lib.pool_status_name(status).decode()}: {error.message.decode()}")


main()
