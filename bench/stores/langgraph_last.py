"""LangGraph's SqliteSaver at its leanest: a state that holds the last step only."""

import langgraph_saver


class Contestant(langgraph_saver.Contestant):
    whole_history = False
