"""Files on disk: finding, reading and replacing them, and what configuration and comments say about them."""
