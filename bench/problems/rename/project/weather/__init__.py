"""Readings of a weather station."""

from weather.sensor import Sensor, read_val

__all__ = ["Sensor", "read_val"]
