"""Games between players and environments, evaluation, and honest intervals."""
