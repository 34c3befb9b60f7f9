"""The protocol of `ewn-6x7`: other programs as our agents, and our agents for other referees."""
