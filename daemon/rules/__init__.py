"""The rules of sport poker as pure functions over cards and seats."""
