"""`bench sweep`: one server setting after another on the same frozen batch. Runs on the host, on nothing but Python 3.10 and up."""
