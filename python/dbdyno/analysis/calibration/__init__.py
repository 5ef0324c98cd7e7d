"""What a calibration of storage concludes from its blocks, its latencies and its course in time: arrays in.

```
block_bootstrap   intervals with blocks as units, although neighbouring blocks are alike
knee              two scale-free knees and the most throughput, each with its interval
dip, modes        whether a latency distribution has one peak or more; what each peak costs, and when it comes
change_points     where the level of a series changes
token_bucket      burst and sustained throughput of a throttled device
steady            the steady state by the rule of the SNIA, without a change point in it
```
"""
