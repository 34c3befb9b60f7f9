"""2048 for Gymnasium: importing this module registers `tuplet/2048-v1`.

`gymnasium.make("tuplet.adapters.gym:tuplet/2048-v1")` imports it and makes the environment; `gymnasium.make_vec` makes a
vector environment.
"""

from __future__ import annotations

from tuplet.adapters import missing

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise missing(error, "gymnasium", "gym") from None

from tuplet.adapters.gym_env import Env2048
from tuplet.adapters.gym_policy import TuplePolicy
from tuplet.adapters.gym_vector import Vector2048

__all__ = ["ID", "Env2048", "TuplePolicy", "Vector2048"]

ID = "tuplet/2048-v1"

if ID not in gymnasium.registry:
    # The environment raises ResetNeeded itself and is checked by the tests; Gymnasium's wrappers for both would take most of
    # the time of a step.
    gymnasium.register(
        ID,
        "tuplet.adapters.gym:Env2048",
        vector_entry_point="tuplet.adapters.gym:Vector2048",
        order_enforce=False,
        disable_env_checker=True,
    )
