"""Protocols between the pure rooms and the outside; `support` has contract suites for them."""
