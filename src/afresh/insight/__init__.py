from afresh.insight.python import CodeInsight

__all__ = ["CodeInsight"]
