"""`python -m dualgap` is the command line."""

from dualgap.cli.app import main

if __name__ == "__main__":
    main()
