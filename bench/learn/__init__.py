"""A learning run: groups of rollouts a problem, GSPO on their centred rewards, a record that survives a crash."""
