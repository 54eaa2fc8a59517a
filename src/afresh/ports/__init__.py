"""The seams. The rooms of the flow know only these; the edges implement them, `afresh.testing` has contract suites for them."""
