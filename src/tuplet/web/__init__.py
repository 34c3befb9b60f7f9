"""The page and its server: the public functions over HTTP, with JSON answers."""
