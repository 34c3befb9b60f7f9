"""The games: rules as kernels, and the positions people hold."""
