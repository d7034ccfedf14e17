"""``python -m torchsleuth``: the command line, where its script is not on the path."""

from torchsleuth.cli.main import main

if __name__ == "__main__":
    main()
