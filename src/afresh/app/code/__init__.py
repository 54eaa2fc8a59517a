"""The code of a checkout: searched, measured, watched."""
