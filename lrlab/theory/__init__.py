"""Exact curves to lay over the dots: moments of links, spiked-matrix predictions, rates."""
