"""What a keeper does, one subject a file. The standard library alone; see keeper.py."""
