"""Two result files against each other: what differs between the runs, then what their own steps can show."""
