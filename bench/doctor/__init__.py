"""`python3 -m bench doctor`: is this machine ready for `make bench`? Runs on the host: standard library and Python 3.10 only."""
