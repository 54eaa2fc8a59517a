"""Protocols between the pure rooms and the outside; `afresh.testing` has contract suites for them."""
