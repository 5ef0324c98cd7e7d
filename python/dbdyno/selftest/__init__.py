"""The instrument checks itself on this machine: planted truths, and what watching costs.

truths   what is planted and how long it truly takes
plant    runs them on a server of our own, again and again
cost     the same load with and without the sampler, in turn
record   what the last self-test of this machine found, for the reports of later runs
"""
