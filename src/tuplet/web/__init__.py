"""The page and its small server: the public functions, asked over HTTP and answered as JSON."""
