"""The disciplines of sport poker as data, one file each."""
