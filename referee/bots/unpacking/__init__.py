"""How files of strangers are unpacked. The standard library alone; see unpacker.py."""
