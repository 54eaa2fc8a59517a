class ShopError(Exception):
    """Whatever a shop raises on purpose."""


class SettingsError(ShopError):
    """A setting can't be used."""
