"""Writes anew what follows from the code: the schemas, the vectors, and the blocks of FORMAT.md.

    make format-files

A schema that was released is not written over when it would demand something else: see Changed.
"""

import sys

from tests.format.written import Changed, written

try:
    files = written()
except Changed as why:
    sys.exit(str(why))
for file, content in files.items():
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        print(file)
