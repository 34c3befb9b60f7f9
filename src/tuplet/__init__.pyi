# The public names and their modules, for type checkers and for `__init__.py`.

from .agents.agent import RandomAgent as RandomAgent, make_agent as make_agent, settings_of as settings_of
from .agents.environments import RandomEnvironment as RandomEnvironment
from .agents.learned import LearnedAgent as LearnedAgent
from .agents.listing import (
    Listing as Listing,
    list_agents as list_agents,
    list_games as list_games,
    list_runs as list_runs,
)
from .agents.random_greedy import GreedyAgent as GreedyAgent
from .agents.registry import register_agent as register_agent
from .agents.specs import Spec as Spec
from .arena.analyze import analyze as analyze
from .arena.bench import bench as bench
from .arena.compare import Comparison as Comparison, compare as compare
from .arena.evaluate import Evaluation as Evaluation, evaluate as evaluate, play_episode as play_episode
from .arena.export import Positions as Positions, export_positions as export_positions
from .arena.game import play_game as play_game
from .arena.grade import Grades as Grades, grade as grade
from .arena.match import match as match, tournament as tournament
from .arena.placement import Placement as Placement, placement as placement
from .arena.population import Population as Population, population as population
from .arena.regret import regret as regret
from .arena.regret_endgames import EndgameRegret as EndgameRegret
from .arena.review import Review as Review, review as review
from .arena.review_two import TwoPlayerReview as TwoPlayerReview
from .arena.sweep import (
    Sweep as Sweep,
    sweep_eval as sweep_eval,
    sweep_match as sweep_match,
    sweep_train as sweep_train,
)
from .errors import UserError as UserError
from .exact.endgames import EndgameTable as EndgameTable
from .exact.solution import Solution as Solution
from .exact.solve import solve as solve
from .games.analysis import Analysis as Analysis, MoveValue as MoveValue
from .games.encoding import Encoding as Encoding
from .games.ewn.game import EwnPosition as EwnPosition
from .games.formats import ParsedText as ParsedText, read as read, write as write
from .games.g2048.board import MOVES as MOVES, Board as Board
from .games.g2048.game import Position2048 as Position2048
from .games.game import Game as Game, Position as Position
from .games.protocol import register_game as register_game
from .games.record import Forfeit as Forfeit, Record as Record
from .games.registry import game as game
from .games.search_history import SearchHistory as SearchHistory
from .games.tree import TreeNode as TreeNode, TreeView as TreeView
from .learn.convert import convert as convert
from .learn.run import Run as Run, plot as plot
from .learn.self_play_steps import SelfPlaySteps as SelfPlaySteps, self_play_steps as self_play_steps
from .learn.steps import LearningSteps as LearningSteps, learning_steps as learning_steps
from .learn.train import learn_from as learn_from, resume as resume, train as train
from .search.steps import SearchSteps as SearchSteps, search_steps as search_steps
from .studies.reproduce import reproduce as reproduce
from .system.cluster import cluster as cluster
from .system.progress import Progress as Progress
from .system.stop import Stop as Stop, Stopped as Stopped
from .system.version import __version__ as __version__
from .testing.cluster import ClusterCheck as ClusterCheck, check_cluster as check_cluster
from .testing.doctor import Diagnosis as Diagnosis, doctor as doctor
from .testing.programs import Check as Check, check as check
from .testing.scaffold import NewFile as NewFile, new as new
from .values.average import average as average
from .values.fetch import fetch as fetch
from .values.game_network import GameNetwork as GameNetwork
from .values.network import Network as Network
from .values.patterns import NETWORKS as NETWORKS
from .web.serve import serve as serve
