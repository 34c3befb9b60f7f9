"""Searches: written once for every game; and an expectimax over learned values, for 2048 alone."""
