"""Translation validation: the original and the folded text are executed and compared."""

from arrayfold.validation.compare import Difference, Subject, Validation, validate

__all__ = ["Difference", "Subject", "Validation", "validate"]
