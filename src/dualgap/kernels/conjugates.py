"""The conjugate −φ*(−α) around one dual: its slope, its bend, and the interval where the two describe it."""

from __future__ import annotations

from math import log

from dualgap.kernels.compile import by_class, specialized
from dualgap.kernels.steps import LogisticClosedForm, LogisticStep, MarginStep, ResidualStep

# A logistic dual never reaches its ends: it may come this much closer to one at once.
CLOSER = 0.125
# Moves smaller than this part of the way to both ends leave a rest that two terms of its series tell to three digits.
SMALL = 0.05


def _margin_slope(loss, label, dual):
    return label - loss.gamma * dual


def _residual_slope(loss, label, dual):
    return label - loss.gamma * dual - (loss.epsilon if dual > 0.0 else -loss.epsilon)


def _logistic_slope(loss, label, dual):
    a = label * dual
    return label * log((1.0 - a) / a)


def _constant_bend(loss, label, dual):
    return loss.gamma


def _logistic_bend(loss, label, dual):
    a = label * dual
    return 1.0 / (a * (1.0 - a))


def _no_rest(loss, label, dual, move):
    return 0.0


def _logistic_rest(loss, label, dual, move):
    a, x = label * dual, label * move
    up, down = x / a, x / (1.0 - a)
    if max(abs(up), abs(down)) < SMALL:
        return a * up**3 * (2.0 - up) / 12.0 - (1.0 - a) * down**3 * (2.0 + down) / 12.0
    entropies = (a + x) * log(1.0 + up) + (1.0 - a - x) * log(1.0 - down)
    return 0.5 * x * (up + down) - entropies


def _margin_piece(loss, label, dual):
    if 0.0 < label * dual < loss.upper:
        return min(0.0, label * loss.upper), max(0.0, label * loss.upper)
    return dual, dual


def _residual_piece(loss, label, dual):
    # ε makes a kink at zero, and nothing moves across it at once.
    if loss.lower < dual < loss.upper and (dual != 0.0 or loss.epsilon == 0.0):
        return (
            loss.lower if dual < 0.0 or loss.epsilon == 0.0 else 0.0,
            loss.upper if dual > 0.0 or loss.epsilon == 0.0 else 0.0,
        )
    return dual, dual


def _logistic_piece(loss, label, dual):
    a = label * dual
    if 1e-300 < a < 1.0:
        near, far = label * (CLOSER * a), label * (1.0 - CLOSER * (1.0 - a))
        return min(near, far), max(near, far)
    return dual, dual


SLOPE = {
    MarginStep: _margin_slope,
    ResidualStep: _residual_slope,
    LogisticStep: _logistic_slope,
    LogisticClosedForm: _logistic_slope,
}
BEND = {
    MarginStep: _constant_bend,
    ResidualStep: _constant_bend,
    LogisticStep: _logistic_bend,
    LogisticClosedForm: _logistic_bend,
}
REST = {
    MarginStep: _no_rest,
    ResidualStep: _no_rest,
    LogisticStep: _logistic_rest,
    LogisticClosedForm: _logistic_rest,
}
PIECE = {
    MarginStep: _margin_piece,
    ResidualStep: _residual_piece,
    LogisticStep: _logistic_piece,
    LogisticClosedForm: _logistic_piece,
}


def _never(loss):
    return False


def _always(loss):
    return True


CURVED = {MarginStep: _never, ResidualStep: _never, LogisticStep: _always, LogisticClosedForm: _always}


def conjugate_slope(loss, label, dual):
    """The derivative of −φ*(−α) inside its piece."""
    return SLOPE[type(loss)](loss, label, dual)


def conjugate_bend(loss, label, dual):
    """Minus its second derivative."""
    return BEND[type(loss)](loss, label, dual)


def conjugate_rest(loss, label, dual, move):
    """What slope and bend leave of its change over a move."""
    return REST[type(loss)](loss, label, dual, move)


def piece(loss, label, dual):
    """The interval around a dual where slope and bend hold; the dual alone where a bound or a kink holds it."""
    return PIECE[type(loss)](loss, label, dual)


def is_curved(loss):
    """Whether the bend changes within a piece, so that it only describes what is near."""
    return CURVED[type(loss)](loss)


@specialized(conjugate_slope)
def _conjugate_slope(loss, label, dual):
    return by_class(SLOPE, loss)


@specialized(conjugate_bend)
def _conjugate_bend(loss, label, dual):
    return by_class(BEND, loss)


@specialized(conjugate_rest)
def _conjugate_rest(loss, label, dual, move):
    return by_class(REST, loss)


@specialized(piece)
def _piece(loss, label, dual):
    return by_class(PIECE, loss)


@specialized(is_curved)
def _is_curved(loss):
    return by_class(CURVED, loss)
