from afresh.insight.python import PythonInsight

__all__ = ["PythonInsight"]
