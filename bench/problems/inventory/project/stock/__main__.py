import sys

from stock.cli import main

sys.exit(main(sys.argv[1:]))
