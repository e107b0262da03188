"""``python -m vinculum``: the command line."""

import sys

from vinculum.cli.main import main

sys.exit(main())
