# Copyright 2026 robodyn_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""Short runs of `make fuzz`, whether its judge is awake, and the classics of hostile XML."""

from collections import Counter
from dataclasses import replace
import sys
from xml.sax.saxutils import quoteattr

from fuzz import campaign, files, malformed_urdfs as urdfs, texts
from fuzz.judge import Canary, FAILED, judge, VALID, Verdict
from fuzz.mutants import Mutant, mutant
from lxml import etree
import numpy as np
import pytest
from robodyn_ros import Dynamics, load_urdf
from robots import ARM
from thorough import seeds

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    sys.platform != 'linux', reason='the judge asks Linux')]
MUTANTS = range(180, seeds(240, 480))
EXTERNAL = [b'file://' + urdfs.CANARY_FILE, urdfs.CANARY_FILE, urdfs.CANARY_HTTP]


@pytest.fixture
def canary(tmp_path):
    canary = Canary(tmp_path)
    yield canary
    canary.close()


def test_each_mutant_is_a_sound_robot_or_refused_in_plain_words():
    verdicts = list(campaign.campaign(0, MUTANTS, jobs=1))
    assert [(i, v.complaint) for i, v in verdicts if v.outcome == FAILED] == []
    assert sorted(i for i, _ in verdicts) == [*MUTANTS]
    count = Counter(verdict.outcome for _, verdict in verdicts)
    # Beyond XML
    assert count[VALID] > len(MUTANTS) / 10 and count['UrdfError'] > len(MUTANTS) / 3
    assert count['InertiaError'] and count['UnknownNameError']


def test_a_mutant_is_the_same_for_everybody():
    assert mutant(3, 14) == mutant(3, 14) != mutant(3, 15)


@pytest.mark.parametrize('place', EXTERNAL)
def test_the_canary_tells_of_who_reads_it(canary, place):
    if place == urdfs.CANARY_HTTP:
        def read(url):
            from urllib.request import urlopen
            urlopen(url, timeout=0.1)
    else:
        def read(path):
            etree.parse(path, etree.XMLParser(recover=True))
    verdict = judge(Mutant(place, {}, ()), canary, lambda source: read(source.decode()))
    assert verdict.outcome == FAILED and 'touched' in verdict.complaint


@pytest.mark.parametrize('misdeed, complaint', [
    (lambda text: 1 // 0, 'ZeroDivisionError'), (lambda text: np.float64(1) / 0, 'Warning'),
    (lambda text: open('/dev/null').close(), '/dev/null'),
    (lambda text: replace(load_urdf(text), implausible_links=('upper',)), 'implausible_links')])
def test_the_judge_tells_of_what_may_not_be(canary, misdeed, complaint):
    verdict = judge(Mutant(ARM, {}, ()), canary, lambda text: misdeed(text) or load_urdf(text))
    assert verdict.outcome == FAILED and complaint in verdict.complaint


@pytest.mark.parametrize('place', EXTERNAL)
@pytest.mark.parametrize('text, outcome', [
    (b'<!DOCTYPE robot SYSTEM "%s">' + ARM.encode(), 'UrdfError'),
    (b'<!DOCTYPE robot PUBLIC "x" "%s">' + ARM.encode(), 'UrdfError'),
    (b'<!DOCTYPE robot [<!ENTITY x SYSTEM "%s">]>'
     + ARM.encode().replace(b'</link>', b'&x;</link>'), 'UrdfError'),
    (b'<!DOCTYPE robot [<!ENTITY %% x SYSTEM "%s"> %%x;]>' + ARM.encode(), 'UrdfError'),
    (b'<?xml-stylesheet type="text/xsl" href="%s"?>' + ARM.encode(), VALID),
    (ARM.encode().replace(b'</robot>', b'<include xmlns="http://www.w3.org/2001/XInclude" '
                                       b'href="%s"/></robot>'), VALID),
], ids=['DTD', 'public DTD', 'entity', 'parameter entity', 'stylesheet', 'XInclude'])
def test_nothing_outside_of_the_text_is_read(canary, text, outcome, place):
    verdict = judge(Mutant(text % place, {}, ()), canary)
    assert verdict == Verdict(outcome)


@pytest.mark.parametrize('many', texts.MANY)
def test_more_than_any_robot_has(canary, many):
    more = many(100_000)
    verdict = judge(Mutant(ARM.encode().replace(b'</link>', more + b'</link>', 1), {}, ()), canary)
    assert verdict == Verdict('UrdfError' if b'<' in more else VALID)


NAMES = ('é', 'e\u0301', '關節', 'مفصل', 'מפרק', 'сустав', '\U0001f469\u200d\U0001f52c', 'a b',
         ' a', 'a\u00a0b', 'Ａ', '<&">\'', '%s{0}', '[/red]', '$x', '\\', '/')


def test_names_are_taken_as_they_are():
    for name in NAMES:
        text = ARM.replace('"shoulder"', quoteattr(name)).replace('"upper"', quoteattr(name + 'x'))
        model = load_urdf(text)
        assert model.joint_names == (name, 'slide') and model.joint_index(name) == 0
        push = Dynamics(model).inverse_dynamics([0, 0], [0, 0], [0, 0],
                                                {name + 'x': [0, 0, 0, 0, 1, 0]}, 'body')
        np.testing.assert_allclose(push - Dynamics(model).gravity([0, 0]), [-1, 0])


@pytest.mark.parametrize('kind', files.KINDS, ids=lambda kind: kind.name)
def test_damaged_files_are_read_or_refused(kind):
    verdicts = [files.judge(kind.name, 1, index) for index in range(-1, seeds(12, 300))]
    assert [v.complaint for v in verdicts if v.outcome == FAILED] == []
    assert verdicts[0].outcome == 'valid'
    assert any(v.outcome != 'valid' for v in verdicts)
