"""Runs `bookend load` over the nodes of a Ray cluster. Ray only starts the agents; they measure without it."""
