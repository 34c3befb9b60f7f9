# What tuplet offers, and where each name lives: read by type checkers, and by `__init__.py`.

from tuplet.agents.agent import RandomAgent as RandomAgent, make_agent as make_agent, settings_of as settings_of
from tuplet.agents.environments import RandomEnvironment as RandomEnvironment
from tuplet.agents.learned import LearnedAgent as LearnedAgent
from tuplet.agents.listing import (
    Listing as Listing,
    list_agents as list_agents,
    list_games as list_games,
    list_runs as list_runs,
)
from tuplet.agents.random_greedy import GreedyAgent as GreedyAgent
from tuplet.agents.registry import register_agent as register_agent
from tuplet.agents.specs import Spec as Spec
from tuplet.arena.analyze import analyze as analyze
from tuplet.arena.bench import bench as bench
from tuplet.arena.compare import Comparison as Comparison, compare as compare
from tuplet.arena.episode import play_episode as play_episode
from tuplet.arena.evaluate import Evaluation as Evaluation, evaluate as evaluate
from tuplet.arena.game import play_game as play_game
from tuplet.arena.match import match as match, tournament as tournament
from tuplet.arena.population import Population as Population, population as population
from tuplet.arena.regret import regret as regret
from tuplet.arena.review import Review as Review, review as review
from tuplet.arena.sweep import Sweep as Sweep
from tuplet.arena.sweeps import sweep_eval as sweep_eval, sweep_match as sweep_match, sweep_train as sweep_train
from tuplet.errors import UserError as UserError
from tuplet.exact.solution import Solution as Solution
from tuplet.exact.solve import solve as solve
from tuplet.games.analysis import Analysis as Analysis, MoveValue as MoveValue
from tuplet.games.ewn.position import EwnPosition as EwnPosition
from tuplet.games.formats import ParsedText as ParsedText, read as read, written as written
from tuplet.games.g2048.board import MOVES as MOVES, Board as Board
from tuplet.games.g2048.episode import Episode as Episode
from tuplet.games.g2048.position import Position2048 as Position2048
from tuplet.games.game import Game as Game
from tuplet.games.position import Position as Position
from tuplet.games.protocol import register_game as register_game
from tuplet.games.record import Forfeit as Forfeit, Record as Record
from tuplet.games.registry import game as game
from tuplet.games.search_history import SearchHistory as SearchHistory
from tuplet.games.tree import TreeNode as TreeNode, TreeView as TreeView
from tuplet.learn.convert import convert as convert
from tuplet.learn.run import Run as Run, plot as plot
from tuplet.learn.train import learn_from as learn_from, resume as resume, train as train
from tuplet.studies.reproduce import reproduce as reproduce
from tuplet.system.cluster import cluster as cluster
from tuplet.system.progress import Progress as Progress
from tuplet.system.stop import Stop as Stop, Stopped as Stopped
from tuplet.system.version import __version__ as __version__
from tuplet.testing.cluster import ClusterCheck as ClusterCheck, check_cluster as check_cluster
from tuplet.testing.programs import Check as Check, check as check
from tuplet.testing.scaffold import NewFile as NewFile, new as new
from tuplet.values.average import average as average
from tuplet.values.network import Network as Network
from tuplet.values.patterns import NETWORKS as NETWORKS
from tuplet.web.serve import serve as serve
