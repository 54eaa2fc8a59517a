"""The Agent Client Protocol: editors drive conversations. Only serve.py and agent.py are asynchronous."""
