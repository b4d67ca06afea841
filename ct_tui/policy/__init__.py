"""config.json and where things lie: the only part that reads or writes the policy's file."""
