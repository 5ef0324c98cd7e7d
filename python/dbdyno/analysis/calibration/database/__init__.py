"""What a calibration through a database concludes: the server's reads beside the device's own, in the same blocks.

```
findings   what may be shown
cells      blocks of the server's cells as arrays, and what two arms of the same blocks are compared by
reads      lookups by sessions: rate, response time, share from the page cache, ratio to the device
orders     scans and commits
analyse    all of it
```
"""
