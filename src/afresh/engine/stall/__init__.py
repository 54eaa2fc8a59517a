"""Signs of getting nowhere: what each step leaves behind, what it looks like, and what is done about it. `ladder` joins them."""
