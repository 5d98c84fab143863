"""The softmax model of k classes: its problem, its judge, its two solvers, and the call that runs them."""
