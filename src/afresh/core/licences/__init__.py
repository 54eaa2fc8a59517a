"""Which changes of tests a person's words allow."""
