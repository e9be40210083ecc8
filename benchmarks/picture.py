# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Bar chart of relative speeds."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from .results import PEERS, QUANTITIES, WAYS


def draw(results: dict[str, Any], path: Path) -> None:
    """Write a PNG: a panel for each peer of Pinocchio's, a bar for each way and robot."""
    peers = [peer for peer in ('cpp', 'binding')
             if any(peer in row['against'] for robot in results['robots'].values()
                    for row in robot['rows'])]
    robots = results['robots']
    figure = Figure(figsize=(13, 7.5), layout='constrained', dpi=110)
    figure.suptitle('How many times as fast as Pinocchio: medians and quartiles of '
                    f'{results["rounds"]} rounds on one core of {results["machine"]["cpu"]}')
    for panel, peer in zip(figure.subplots(1, len(peers), squeeze=False)[0], peers):
        labels = list(dict.fromkeys(
            (row['quantity'], row['way']) for robot in robots.values() for row in robot['rows']
            if peer in row['against']))
        height = 0.8 / len(robots)
        for k, (name, robot) in enumerate(robots.items()):
            rows = [row for row in robot['rows'] if peer in row['against']]
            places = [labels.index((row['quantity'], row['way'])) + k * height - 0.4 + height / 2
                      for row in rows]
            found = [row['against'][peer] for row in rows]
            ratios = [of['ratio'] for of in found]
            bars = panel.barh(places, ratios, height, label=f'{name} ({robot["joints"]} joints)',
                              xerr=[[of['ratio'] - of['lower'] for of in found],
                                    [of['upper'] - of['ratio'] for of in found]],
                              error_kw={'lw': 1})
            panel.bar_label(bars, [f'{ratio:.1f}' for ratio in ratios], padding=4, fontsize=8)
        panel.set_yticks(range(len(labels)), [f'{QUANTITIES[quantity]}\n{WAYS[way]}'
                                              for quantity, way in labels], fontsize=8)
        panel.invert_yaxis()
        panel.axvline(1.0, color='black', lw=1)
        panel.set(title=f'beside {PEERS[peer]}', xlabel='times as fast')
        panel.margins(x=0.1)
        panel.grid(axis='x', alpha=0.3)
    panel.legend(loc='lower right')
    figure.savefig(path)
