"""From what was seen of a whole server to what it means: a record in, a `ServerProfile` out. Pure.

```
record -> processes, snapshots      who is who; what was seen, as columns
       -> division                  exact clocks divided by what was seen
       -> resample, leaves          the same for every draw of the bootstrap
       -> breakdown, active_sessions, background, blockers, heat_maps, requests
       -> concluding (rules_*, meanings), limits: findings in words, warnings
```
"""

from dbdyno.analysis.server_profile.analyse import analyse
from dbdyno.analysis.server_profile.document import as_document

__all__ = ["analyse", "as_document"]
