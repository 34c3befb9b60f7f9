"""tuplet: learning and search in stochastic board games.

>>> import tuplet
>>> net = tuplet.Network("5x4")
>>> run = tuplet.train(net, games=200, progress=False)
>>> net.best_move([2, 2, 0, 0] + 12 * [0]) in tuplet.MOVES
True
"""

import lazy_loader as _lazy

# `__init__.pyi` lists every public name and its module. A name is imported when first used: `tuplet --help` must not
# wait for the compiler.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
