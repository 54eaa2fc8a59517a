def modules(code): return None
def targets(imported, path, modules): return ()
def beside(path, modules): return ()
