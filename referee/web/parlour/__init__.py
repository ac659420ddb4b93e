"""Games of a person in a browser against a bot of this machine."""
