"""The workbench: plans of races, the runner, and the results on disk."""
