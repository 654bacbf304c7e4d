"""`python -m cryplab.guest.faulty [CASE ...]`: the same as `cryplab faults`."""

import sys

from cryplab.guest.faulty.table import faults

result = faults(sys.argv[1:])
print("\n".join(result.render()))
sys.exit(result.exit_code)
