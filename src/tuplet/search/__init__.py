"""Searches, written once for every game: expectimax and alpha-beta, Monte-Carlo tree search."""
