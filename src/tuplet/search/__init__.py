"""Searches: expectimax and alpha-beta, and Monte-Carlo tree search, written once for every game;
and an expectimax for 2048 alone, over learned values.
"""
