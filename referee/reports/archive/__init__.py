"""A season or a tournament as a folder to keep: records, tables, rules, hashes, pages to read."""
