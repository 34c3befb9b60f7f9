"""Learning with several threads, processes or machines."""
