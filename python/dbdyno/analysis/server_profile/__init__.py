"""From what was seen of a whole server to what it means: a record in, a `ServerProfile` out. Pure."""
