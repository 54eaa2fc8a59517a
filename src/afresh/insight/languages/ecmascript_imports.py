def modules(code): return None
def targets(imported, path, modules): return ()
