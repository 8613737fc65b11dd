"""report.html: all that a results folder has on one page that needs nothing else, for a phone, a screen and paper."""
