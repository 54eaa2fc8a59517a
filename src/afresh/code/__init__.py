"""Analysis of source code: index, languages, call graph, ranking, project profile, refactoring."""
