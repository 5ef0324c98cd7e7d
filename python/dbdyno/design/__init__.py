"""From an experiment file to a validated `Experiment`: factors, levels, arms, blocks, random order."""
