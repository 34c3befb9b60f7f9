"""`python -m tuplet`."""

from tuplet.cli import main

if __name__ == "__main__":
    main()
