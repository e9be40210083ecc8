# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Panels, examples and exit codes of the help, former options, and names for the shell."""

EXIT_CODES = ('Exit codes: 0, done; 1, an error or a check that failed, explained on stderr; '
              '2, invalid arguments; 130, Ctrl-C.')

# Panels of `robodyn --help`, with their commands in the order in which they are listed
PANELS = {
    'Model': ('inspect', 'view', 'init', 'repair', 'derive', 'verify', 'export'),
    'Run': ('demo', 'play', 'jog', 'teach', 'set-payload', 'find-payload', 'calibrate-float',
            'calibrate-collision'),
    'Identify': ('excite', 'record', 'identify', 'validate', 'drive-gains'),
    'Diagnose': ('check-machine', 'replay', 'loop-report', 'warmup'),
    'Develop': ('new-law', 'new-driver', 'compare-laws'),
}

# Options that go by another name since 0.9, by command
FORMER_OPTIONS = {
    'check-machine': {'--seconds': '--duration'},
    'record': {'--topic': '--states', '--seconds': '--duration'},
    **dict.fromkeys(('identify', 'validate', 'excite', 'drive-gains'), {'--topic': '--states'}),
}

EXAMPLES = {
    'calibrate-collision': 'robodyn calibrate-collision --set',
    'calibrate-float': 'robodyn calibrate-float',
    'check-machine': 'robodyn check-machine --duration 120 --report machine.html',
    'compare-laws': 'robodyn compare-laws ur5 --report laws.html',
    'demo': 'robodyn demo two_link --brief',
    'derive': 'robodyn derive craig_2r --frame tool --axes xy --latex',
    'drive-gains': 'robodyn drive-gains motion.npz --robot my_arm.urdf',
    'excite': 'robodyn excite my_arm.urdf',
    'export': 'robodyn export my_arm.urdf --c --frame tool0 -o my_arm.c',
    'find-payload': 'robodyn find-payload --set',
    'identify': 'robodyn identify motion.npz --robot my_arm.urdf',
    'init': 'robodyn init my_arm.urdf --robot-compensates-gravity',
    'inspect': 'robodyn inspect my_arm.urdf --at 0,-0.8,0,-2.4,0,1.6,0.8',
    'jog': 'robodyn jog --linear 0.05',
    'loop-report': 'robodyn loop-report /tmp/timing.npz --report timing.html',
    'new-driver': 'robodyn new-driver my_arm',
    'new-law': 'robodyn new-law my_spring',
    'play': 'robodyn play excite.yaml --approach 5 --record motion.npz',
    'record': 'robodyn record motion.npz',
    'repair': 'robodyn repair my_arm.urdf -o repaired.urdf',
    'replay': 'robodyn replay fault.mcap --report fault.html',
    'set-payload': 'robodyn set-payload --mass 1.5 --com 0,0,0.06',
    'teach': 'robodyn teach poses.yaml',
    'validate': 'robodyn validate other.npz --robot identified/corrected.urdf',
    'verify': 'robodyn verify my_arm.urdf --config my_arm.yaml --runs 2000 --report risks.html',
    'view': 'robodyn view panda --live --allow-control',
    'warmup': 'robodyn warmup panda --all',
}


def robots(incomplete: str) -> list[str]:
    """Return the names of robots that begin so, for the shell."""
    from ..model.resources import robot_names

    return [name for name in robot_names() if name.startswith(incomplete)]
