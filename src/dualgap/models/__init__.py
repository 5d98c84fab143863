"""Models on disk: the record of a fit, its file, and whether what the file claims is true."""

from dualgap.models.digests import DataDigest, digest
from dualgap.models.files import load, save
from dualgap.models.rechecking import Verdict, recheck
from dualgap.models.record import Model
from dualgap.models.saving import FitFacts, SavesModels, model_of

__all__ = ["DataDigest", "FitFacts", "Model", "SavesModels", "Verdict", "digest", "load", "model_of", "recheck", "save"]
