"""Files: weights, game records, and how to write them so that nothing is lost."""
