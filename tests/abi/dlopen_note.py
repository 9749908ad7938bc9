#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library names the libraries that it opens at run time in ELF notes of the dlopen
metadata format (owner FDO, type 0x407c0c0a, a JSON array), in a segment that is loaded.
usage: dlopen_note.py READELF OBJCOPY LIBRARY SONAME ..."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

readelf, objcopy, library, *wanted = sys.argv[1:]
with tempfile.TemporaryDirectory() as directory:
    dump = pathlib.Path(directory) / "notes"
    subprocess.run([objcopy, "-O", "binary", "--only-section=.note.dlopen", library, dump],
                   check=True)
    data = dump.read_bytes()

sonames = []
offset = 0
while offset < len(data):
    owner_bytes, json_bytes, kind = struct.unpack_from("<III", data, offset)
    owner = data[offset + 12:offset + 12 + owner_bytes]
    text = data[offset + 16:offset + 16 + json_bytes]
    assert owner == b"FDO\0" and kind == 0x407C0C0A, (owner, hex(kind))
    assert text.endswith(b"}]\0"), text
    for entry in json.loads(text[:-1]):
        assert entry["feature"] and entry["description"] and entry["priority"] == "recommended"
        sonames += entry["soname"]
    offset += 16 + (json_bytes + 3) // 4 * 4
assert sorted(sonames) == sorted(wanted), sonames

headers = subprocess.run([readelf, "-lW", library], check=True, capture_output=True,
                         text=True).stdout
assert any(".note.dlopen" in line.split() for line in headers.splitlines()), headers
needed = subprocess.run([readelf, "-dW", library], check=True, capture_output=True,
                        text=True).stdout
assert "libcuda" not in needed and "libnvrtc" not in needed, needed
print(" ".join(sonames))
