"""Names to players and agents: "mcts:sims=100", "hard", a run folder, "mine:Class"."""
