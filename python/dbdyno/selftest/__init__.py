"""The instrument checks itself on this machine: planted truths, and what watching costs.

truths   what is planted and how long it truly takes
plant    runs them on a server of our own, again and again
cost     the same load with and without the sampler, in turn
load     the trial specs of both
"""
