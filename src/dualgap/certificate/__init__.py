"""The judge: a primal value, a dual value and a proven gap between them, for any weights, intercept and duals.

It shares no code with any solver or kernel.
"""

from dualgap.certificate.judge import certify
from dualgap.certificate.verdict import Certificate, Judgement

__all__ = ["Certificate", "Judgement", "certify"]
